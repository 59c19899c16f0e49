//! `ebb admin doctor`: shows the findings of the server's configuration check. The server runs the
//! checks.

use serde_json::Value;

/// Returns whether there are no findings.
pub(super) fn is_clean(answer: &Value) -> bool {
    let count = |name: &str| answer.get(name).and_then(Value::as_u64);
    count("problems") == Some(0) && count("warnings") == Some(0)
}

/// Formats the findings as text: one line per check, followed by the remedy.
pub(super) fn format_findings(answer: &Value) -> String {
    let text = |found: &Value, name: &str| found[name].as_str().unwrap_or_default().to_owned();
    let mut out = String::new();
    for found in answer["checks"].as_array().into_iter().flatten() {
        let grade = match found["grade"].as_str() {
            Some("good") => "ok     ",
            Some("warning") => "WARNING",
            _ => "PROBLEM",
        };
        out.push_str(&format!("{grade} {}: {}\n", text(found, "check"), text(found, "text")));
        let remedy = text(found, "remedy");
        if !remedy.is_empty() {
            out.push_str(&format!("        {remedy}\n"));
        }
    }
    let count = |name: &str| answer[name].as_u64().unwrap_or(0);
    out.push_str(&format!("{} problems, {} warnings\n", count("problems"), count("warnings")));
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn findings_are_shown_with_what_to_do() {
        let check = |check: &str, grade: &str, remedy: &str| json!({ "check": check, "grade": grade, "text": "so it is", "remedy": remedy });
        let checks = json!([check("a", "good", ""), check("b", "problem", "--do-this")]);
        let answer = json!({ "problems": 1, "warnings": 0, "checks": checks });
        let want = "ok      a: so it is\nPROBLEM b: so it is\n        --do-this\n\
                    1 problems, 0 warnings\n";
        assert_eq!(format_findings(&answer), want);
        assert!(!is_clean(&answer));
        assert!(is_clean(&json!({ "problems": 0, "warnings": 0, "checks": [] })));
    }
}
