//! Compiles what sets up the allocator before anything is allocated: there is no other way to do it
//! without unsafe code.

fn main() {
    println!("cargo::rerun-if-changed=src/allocator.c");
    let Ok(include) = std::env::var("DEP_MIMALLOC_INCLUDE_DIR") else {
        println!("cargo::error=libmimalloc-sys does not say where its header is");
        return;
    };
    let objects = cc::Build::new().file("src/allocator.c").include(include).compile_intermediates();
    for object in objects {
        // As it is: of a library nobody names the linker would take nothing.
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
}
