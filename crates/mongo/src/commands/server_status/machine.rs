//! The process's resource usage, in MongoDB's sections and units.

use document::{Document, doc};

use super::{int, long};
use crate::usage::Usage;

/// Returns the section `mem`: the process's memory in megabytes.
pub(super) fn memory_section(usage: &Usage) -> Document {
    doc! {
        "bits": 64,
        "resident": int(usage.resident >> 20),
        "virtual": int(usage.mapped >> 20),
        "supported": true,
    }
}

/// Returns the section `extra_info`: times in microseconds, memory in kilobytes.
pub(super) fn extra_section(usage: &Usage) -> Document {
    doc! {
        "note": "fields vary by platform",
        "user_time_us": long(usage.user_us),
        "system_time_us": long(usage.system_us),
        "maximum_resident_set_kb": long(usage.peak >> 10),
        "input_blocks": long(usage.blocks_in),
        "output_blocks": long(usage.blocks_out),
        "page_reclaims": long(usage.minor_faults),
        "page_faults": long(usage.major_faults),
        "voluntary_context_switches": long(usage.voluntary_switches),
        "involuntary_context_switches": long(usage.involuntary_switches),
    }
}
