//! Searches an expression and its parts for one that meets a condition.

use super::Expr;

impl Expr {
    /// Returns whether the expression or any expression inside it satisfies `wanted`, including the
    /// bodies of forms such as `$map`. All searches use this function, since only its `match` lists
    /// the parts of each variant.
    pub fn any_part(&self, wanted: &dyn Fn(&Self) -> bool) -> bool {
        let any = |part: &Self| part.any_part(wanted);
        wanted(self)
            || match self {
                Self::Literal(_)
                | Self::Absent
                | Self::Root
                | Self::Field(_)
                | Self::Variable(..)
                | Self::Now
                | Self::ClusterTime
                | Self::TextScore(_)
                | Self::RowScore
                | Self::Geo(_)
                | Self::Remove => false,
                Self::Object(parts) => parts.iter().any(|(_, part)| any(part)),
                Self::Array(parts)
                | Self::Call(_, parts)
                | Self::And(parts)
                | Self::Or(parts)
                | Self::IfNull(parts) => parts.iter().any(any),
                Self::Cond(parts) | Self::Reduce(parts) => parts.iter().any(any),
                Self::Switch(branches, default) => {
                    branches.iter().any(|(case, then)| any(case) || any(then))
                        || default.as_deref().is_some_and(any)
                }
                Self::Let(variables, body) => {
                    variables.iter().any(|(_, value)| any(value)) || any(body)
                }
                Self::Map(mapping) => any(&mapping.input) || any(&mapping.body),
                Self::Filter(filtering) => {
                    [&filtering.input, &filtering.condition, &filtering.limit].into_iter().any(any)
                }
                Self::Regex(call) => [&call.input, &call.regex, &call.options].into_iter().any(any),
                Self::SortArray(input, _) => any(input),
            }
    }

    /// Returns whether the expression contains `$$ROOT` or a field path, whose values depend on the
    /// document. Variables are not considered.
    pub fn reads_document(&self) -> bool {
        self.any_part(&|part| {
            matches!(
                part,
                Self::Root | Self::Field(_) | Self::TextScore(_) | Self::RowScore | Self::Geo(_)
            )
        })
    }
}
