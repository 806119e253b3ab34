/* SPDX-License-Identifier: MIT */
/*
 * The host's side of PFD_PRINTF for CUDA and HIP: a buffer that kernels write
 * and a reader sees, and the control block on the device.
 *
 *   pfd::printer out(64 << 20);          // shared with printfdecoded, if it runs
 *   kernel<<<blocks, threads>>>(...);    // its lines appear while it runs
 *   cudaDeviceSynchronize();
 *   out.reset();                         // for the next one; or never, if the
 *                                        // buffer holds all
 *
 * If the environment has PFD_BUFFER, the buffer is that file instead, for
 * `printfdecode follow FILE ./program`, or to be decoded later. It has to be in
 * a file system in memory, such as /dev/shm: CUDA refuses to map others. All
 * kernels of all source files that include printf.h print into the printer that
 * was made last. Link with libprintfdecode. C++17.
 *
 * A printer belongs to one thread at a time, and to the device that was current
 * when it was made; it has to be destroyed before the device is reset. After a
 * failure error() has the reason, and kernels print nothing.
 */
#ifndef PRINTFDECODE_DEVICE_HOST_H
#define PRINTFDECODE_DEVICE_HOST_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__HIP__)
#include <hip/hip_runtime_api.h>
#define PFD_RUNTIME(name) hip##name
#else
#include <cuda_runtime_api.h>
#define PFD_RUNTIME(name) cuda##name
#endif

#include <printfdecode/client.h>
#include <printfdecode/device/printf.h>
#include <printfdecode/sites.h>

namespace pfd
{

class printer
{
  public:
    /* bytes: the buffer's size; entries beyond it are lost, and the loss is
     * reported. name: for readers. path: a file, as PFD_BUFFER; NULL: share
     * it. */
    explicit printer(size_t bytes, const char *name = "printf",
                     const char *path = getenv("PFD_BUFFER"))
    {
        make(bytes, name, path);
    }

    ~printer()
    {
        if (device_control_) {
            PFD_RUNTIME(DeviceSynchronize)();
            bind(nullptr);
            take_counts();
            say_withheld();
        }
        if (is_registered_)
            PFD_RUNTIME(HostUnregister)(memory_);
        PFD_RUNTIME(Free)(device_control_);
        if (rules_stream_)
            PFD_RUNTIME(StreamDestroy)(rules_stream_);
        if (fd_ >= 0) {
            munmap(memory_, n_);
            close(fd_);
        }
        pfd_client_buffer_free(buffer_);
        pfd_client_free(client_);
        pfd_sites_free(sites_);
    }

    printer(const printer &) = delete;
    printer &operator=(const printer &) = delete;

    /* The last failure; NULL: none. */
    const char *error() const
    {
        return err_.text[0] ? err_.text : nullptr;
    }

    /* Waits for the device, marks this generation as complete for the reader,
     * and begins anew with an empty buffer, whose used bytes are zeroed. */
    void reset()
    {
        if (error())
            return;
        PFD_RUNTIME(DeviceSynchronize)();
        take_counts();
        say_withheld();
        if (buffer_)
            pfd_client_buffer_restart(buffer_, nullptr, nullptr);
        clear();
        pfd_sites_reset(sites_);
        PFD_RUNTIME(Memcpy)
        (device_control_, control(), n_control_,
         PFD_RUNTIME(MemcpyHostToDevice));
        poll();
    }

    /* Waits for the device, and begins anew only if fewer than `bytes` are
     * left: a reader that is slower than the device has more time. */
    void make_room(size_t bytes)
    {
        if (error())
            return;
        PFD_RUNTIME(DeviceSynchronize)();
        if (used_bytes() > n_ || bytes > n_ - used_bytes())
            reset();
    }

    /* Rings the doorbell, and connects to a reader that came late. Not needed
     * once there is one. */
    void poll()
    {
        if (buffer_)
            pfd_client_buffer_ring(buffer_);
        if (client_)
            pfd_client_poll(client_);
    }

    /* Changes the rules of sites, also while kernels run; match NULL: all.
     * Returns the number of sites that match. */
    size_t set(const pfd_site_match *match, const pfd_site_rule &rule)
    {
        if (error())
            return 0;
        size_t n = pfd_sites_set(sites_, match, &rule);
        send_rules();
        return n;
    }

    /* Only these threads and workgroups print; NULL: all do. Also while
     * kernels run. */
    void filter(const pfd_control_range *threads,
                const pfd_control_range *groups)
    {
        static const pfd_control_range all = {
            { 0, 0, 0 }, { UINT32_MAX, UINT32_MAX, UINT32_MAX }
        };
        if (error())
            return;
        control()->threads = threads ? *threads : all;
        control()->groups = groups ? *groups : all;
        control()->is_filtered = threads || groups;
        send_rules();
    }

    /* The sites, with their counts of the last reset() or count(). */
    const pfd_sites *sites() const
    {
        return sites_;
    }

    /* Entries that rules withheld since the last reset, as the device counts
     * now. */
    uint64_t count()
    {
        if (error())
            return 0;
        take_counts();
        return pfd_sites_withheld(sites_);
    }

  private:
    void make(size_t bytes, const char *name, const char *path)
    {
        n_ = bytes;
        if (pfd_sites_new(nullptr, &sites_, &err_) != PFD_OK)
            return;
        err_ = {};
        control();
        if (path ? !map_file(path) : !share(name))
            return;
        if (check(PFD_RUNTIME(HostRegister)(memory_, n_,
                                            PFD_RUNTIME(HostRegisterMapped)),
                  fd_ >= 0 ? "register the file (is it in memory, as in "
                             "/dev/shm?)"
                           : "register the buffer"))
            is_registered_ = true;
        void *on_device = nullptr;
        if (error() ||
            !check(PFD_RUNTIME(HostGetDevicePointer)(&on_device, memory_, 0),
                   "map the buffer"))
            return;
        control()->buffer = (uint64_t)(uintptr_t)on_device;
        /* No shader stores further (formats/llpc/README.md). */
        uint64_t most = UINT64_C(1) << 29;
        uint64_t n_dwords = n_ / 4 - 4;
        control()->n_dwords = (uint32_t)(n_dwords < most ? n_dwords : most);
        if (check(PFD_RUNTIME(Malloc)((void **)&device_control_, n_control_),
                  "allocate the control block") &&
            check(PFD_RUNTIME(Memcpy)(device_control_, control(), n_control_,
                                      PFD_RUNTIME(MemcpyHostToDevice)),
                  "copy the control block") &&
            check(PFD_RUNTIME(StreamCreateWithFlags)(
                      &rules_stream_, PFD_RUNTIME(StreamNonBlocking)),
                  "make a stream"))
            bind(device_control_);
    }

    bool map_file(const char *path)
    {
        fd_ = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd_ >= 0 && !ftruncate(fd_, (off_t)n_)) {
            memory_ =
                mmap(nullptr, n_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
            if (memory_ != MAP_FAILED)
                return true;
        }
        snprintf(err_.text, sizeof err_.text, "cannot map %s", path);
        if (fd_ >= 0)
            close(fd_);
        fd_ = -1;
        return false;
    }

    bool share(const char *name)
    {
        pfd_wire_frame origin = {};
        size_t n_object = 0;
        const void *object = pfd_sites_object(sites_, &n_object);
        origin.size = n_;
        origin.name = pfd_wire_text(name);
        origin.format = pfd_wire_text("llpc");
        if (pfd_client_new(nullptr, nullptr, 0, &client_, &err_) != PFD_OK ||
            pfd_client_code_object(client_, name, object, n_object, nullptr,
                                   &err_) != PFD_OK ||
            pfd_client_buffer_new(client_, &origin, true, &buffer_, &err_) !=
                PFD_OK)
            return false;
        err_ = {};
        memory_ = pfd_client_buffer_memory(buffer_, nullptr);
        pfd_client_poll(client_);
        return true;
    }

    pfd_control *control()
    {
        return pfd_sites_control(sites_, &n_control_);
    }

    uint64_t used_bytes() const
    {
        uint64_t used = 0;
        memcpy(&used, memory_, sizeof used);
        return 16 + 4 * used;
    }

    void clear()
    {
        memset(memory_, 0, used_bytes() < n_ ? used_bytes() : n_);
    }

    template <class Status> bool check(Status status, const char *what)
    {
        if (status == PFD_RUNTIME(Success))
            return true;
        snprintf(err_.text, sizeof err_.text, "cannot %s: %s", what,
                 PFD_RUNTIME(GetErrorString)(status));
        return false;
    }

    void bind(pfd_control *to)
    {
        for (binding *b = binding::first; b; b = b->next) {
            check(PFD_RUNTIME(MemcpyToSymbol)(b->symbol, &to, sizeof to, 0,
                                              PFD_RUNTIME(MemcpyHostToDevice)),
                  "set the control block");
        }
    }

    /* Sends all but the counts, which are the device's. */
    void send_rules()
    {
        pfd_control *c = control();
        const size_t from = offsetof(pfd_control, is_filtered);
        const size_t rules = offsetof(pfd_site, next);
        PFD_RUNTIME(MemcpyAsync)
        ((char *)device_control_ + from, (char *)c + from, sizeof *c - from,
         PFD_RUNTIME(MemcpyHostToDevice), rules_stream_);
        PFD_RUNTIME(Memcpy2DAsync)
        ((char *)(device_control_ + 1) + rules, sizeof(pfd_site),
         (char *)(c + 1) + rules, sizeof(pfd_site),
         offsetof(pfd_site, seen) - rules, c->n_sites,
         PFD_RUNTIME(MemcpyHostToDevice), rules_stream_);
        PFD_RUNTIME(StreamSynchronize)(rules_stream_);
    }

    void take_counts()
    {
        void *copy = malloc(n_control_);
        if (copy) {
            PFD_RUNTIME(MemcpyAsync)
            (copy, device_control_, n_control_, PFD_RUNTIME(MemcpyDeviceToHost),
             rules_stream_);
            PFD_RUNTIME(StreamSynchronize)(rules_stream_);
            pfd_sites_take(sites_, copy, n_control_, nullptr);
        }
        free(copy);
    }

    /* Reports every withheld entry: none is dropped silently. */
    void say_withheld()
    {
        pfd_site_info site;
        for (size_t i = 0; pfd_sites_get(sites_, i, &site) == PFD_OK; i++) {
            if (!site.now.withheld)
                continue;
            fprintf(stderr,
                    "printfdecode: %.*s:%u: %llu entries were withheld\n",
                    (int)site.n_file, site.file, site.line,
                    (unsigned long long)site.now.withheld);
        }
    }

    pfd_error err_ = {};
    pfd_sites *sites_ = nullptr;
    pfd_client *client_ = nullptr;
    pfd_client_buffer *buffer_ = nullptr;
    int fd_ = -1;
    void *memory_ = nullptr;
    size_t n_ = 0;
    size_t n_control_ = 0;
    pfd_control *device_control_ = nullptr;
    PFD_RUNTIME(Stream_t) rules_stream_ = nullptr;
    bool is_registered_ = false;
};

} /* namespace pfd */

#endif
