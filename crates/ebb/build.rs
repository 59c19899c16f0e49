//! Compiles the C code that configures the allocator before the first allocation. Rust could do
//! this only with unsafe code, which this project does not use.

fn main() {
    println!("cargo::rerun-if-changed=src/allocator.c");
    let Ok(include) = std::env::var("DEP_MIMALLOC_INCLUDE_DIR") else {
        println!("cargo::error=libmimalloc-sys does not say where its header is");
        return;
    };
    let objects = cc::Build::new().file("src/allocator.c").include(include).compile_intermediates();
    for object in objects {
        // Linked as an object file: the linker would drop an unreferenced object of a library.
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
}
