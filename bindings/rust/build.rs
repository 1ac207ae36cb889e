//! Finds libselene: in SELENE_LIB_DIR, or where pkg-config says.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=SELENE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    // Documentation is built where no library is.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    if let Some(folder) = env::var_os("SELENE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder.to_string_lossy());
        println!("cargo:rustc-link-lib=dylib=selene");
        return;
    }
    let found = Command::new(env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into()))
        .args(["--libs-only-L", "--libs-only-l", "selene >= 0.2"])
        .output();
    let said = match found {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) => missing(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => missing(&error.to_string()),
    };
    for word in String::from_utf8_lossy(&said).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
    // pkg-config leaves out folders in which the linker looks anyway.
    if !String::from_utf8_lossy(&said).contains("-lselene") {
        println!("cargo:rustc-link-lib=dylib=selene");
    }
}

fn missing(why: &str) -> ! {
    panic!("libselene was not found: install it, or name its folder in SELENE_LIB_DIR\n{why}");
}
