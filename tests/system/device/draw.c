/* SPDX-License-Identifier: MIT */
/*
 * Draws a triangle over WIDTH x HEIGHT pixels of nothing, with a fragment
 * shader that prints, and writes the buffer to a file:
 *
 *   draw VERTEX.spv FRAGMENT.spv WIDTH HEIGHT BUFFER_BYTES FILE
 *        [--strings FILE [--rule RULE]...]
 *
 * Exit status 77: there is no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "printer.h"

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits of,
                                             const struct shader *shader)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = of,
        .module = gpu_module(shader),
        .pName = shader->entry,
    };
}

static VkPipeline make_pipeline(const struct shader *shaders,
                                const VkRect2D *area)
{
    const VkPipelineShaderStageCreateInfo stages[] = {
        stage(VK_SHADER_STAGE_VERTEX_BIT, &shaders[0]),
        stage(VK_SHADER_STAGE_FRAGMENT_BIT, &shaders[1]),
    };
    const VkViewport viewport = {
        0, 0, (float)area->extent.width, (float)area->extent.height, 0, 1
    };
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = area,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .layout = gpu_layout(&shaders[1], VK_SHADER_STAGE_ALL_GRAPHICS),
    };
    VkPipeline ret;
    gpu_must(vkCreateGraphicsPipelines(gpu.device, NULL, 1, &info, NULL, &ret),
             "pipeline");
    return ret;
}

static void draw(const struct shader *shaders, const struct gpu_buffer *buffers,
                 uint32_t width, uint32_t height)
{
    const VkRect2D area = { { 0, 0 }, { width, height } };
    const VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = area,
        .layerCount = 1,
    };
    VkPipeline pipeline = make_pipeline(shaders, &area);
    gpu_begin();
    vkCmdBindPipeline(gpu.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    gpu_bind(&shaders[1], buffers, VK_PIPELINE_BIND_POINT_GRAPHICS);
    vkCmdBeginRendering(gpu.commands, &rendering);
    vkCmdDraw(gpu.commands, 3, 1, 0, 0);
    vkCmdEndRendering(gpu.commands);
    gpu_end();
}

/* What the shader wants: the buffer to print into, and perhaps rules. */
static void make_buffers(const struct shader *shader,
                         const struct printer_options *printer, size_t n_print,
                         struct gpu_buffer *ret)
{
    for (size_t i = 0; i < shader->n_resources; i++) {
        size_t n = n_print;
        const void *control = shader->resources[i].is_control
                                  ? printer_control(printer, &n)
                                  : NULL;
        if (shader->resources[i].is_control && !control)
            exit(1);
        ret[i] = gpu_buffer(n);
        if (control)
            memcpy(ret[i].memory, control, n);
    }
}

static bool write_file(const char *path, const struct gpu_buffer *buffer)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(buffer->memory, 1, buffer->n_bytes, file) ==
                          buffer->n_bytes;
    return file && !fclose(file) && ok;
}

int main(int argc, char **argv)
{
    struct shader shaders[2] = { 0 };
    struct gpu_buffer buffers[SHADER_RESOURCES_MAX];
    struct printer_options printer = { .program = "draw" };
    if (argc < 7)
        return 1;
    for (int i = 7; i + 1 < argc; i += 2) {
        if (!printer_take(&printer, argv[i], argv[i + 1]))
            return 1;
    }
    for (int i = 0; i < 2; i++) {
        const char *why = shader_read(&shaders[i], argv[1 + i]);
        if (why) {
            fprintf(stderr, "draw: %s: %s\n", argv[1 + i], why);
            return 1;
        }
    }
    gpu_open();
    make_buffers(&shaders[1], &printer, strtoul(argv[5], NULL, 10), buffers);
    draw(shaders, buffers, (uint32_t)strtoul(argv[3], NULL, 10),
         (uint32_t)strtoul(argv[4], NULL, 10));
    bool ok = true;
    for (size_t i = 0; i < shaders[1].n_resources; i++) {
        if (shaders[1].resources[i].is_control) {
            printer_say_withheld(buffers[i].memory, buffers[i].n_bytes);
        } else {
            ok &= write_file(argv[6], &buffers[i]);
        }
    }
    printer_close();
    return ok ? 0 : 1;
}
