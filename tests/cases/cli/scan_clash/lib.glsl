layout(binding = 1) uniform Rest { float y; };
