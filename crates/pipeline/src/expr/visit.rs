//! Looks through the parts of an expression.

use super::Expr;

impl Expr {
    /// Whether any part of it, itself included, is what is looked for.
    /// The one list of what an expression consists of. Bodies of forms are looked at with the rest,
    /// whatever variables they see.
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

    /// Whether its value may depend on the document that it is evaluated over.
    /// An expression that does not can be computed once for all rows.
    pub fn reads_document(&self) -> bool {
        self.any_part(&|part| matches!(part, Self::Root | Self::Field(_)))
    }
}
