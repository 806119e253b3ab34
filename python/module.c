/* SPDX-License-Identifier: MIT */
#include "core.h"

/* Types belong to the process: they cannot serve a second interpreter. */
static bool is_main_interpreter(void)
{
    PyInterpreterState *own = PyInterpreterState_Get();
    return PyInterpreterState_GetID(own) == 0;
}

static int fill(PyObject *module)
{
    if (!is_main_interpreter()) {
        PyErr_SetString(PyExc_ImportError,
                        "printfdecode works in the main interpreter only, not "
                        "in sub-interpreters");
        return -1;
    }
    bool ok = core_add_errors(module) && core_add_findings(module) &&
              core_add_strings(module) && core_add_entry(module) &&
              core_add_opened(module) && core_add_entries(module) &&
              core_add_table(module) && core_add_follow(module) &&
              core_add_client(module) && core_add_draw(module) &&
              PyModule_AddStringConstant(module, "version", pfd_version()) == 0;
    return ok ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, fill },
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "printfdecode._core",
    .m_doc = "The compiled part of printfdecode.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
