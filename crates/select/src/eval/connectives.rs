//! AND, OR and IN over expressions: operands are evaluated until the result is decided.

use evaluation::{Error, Evaluated};

use super::{Env, operators};
use crate::{
    logic::{decided, got, truth},
    plan::Expr,
};

/// AND: false when one is false, else true when all are.
pub(super) fn all<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    Ok(got(decided(items.iter().map(|item| Ok(truth(&item.eval(env)?))), false)?))
}

/// OR: true when one is true, else false when all are.
pub(super) fn any<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    Ok(got(decided(items.iter().map(|item| Ok(truth(&item.eval(env)?))), true)?))
}

/// IN: true when one is equal; nothing when the value or, failing that, an item is nothing.
pub(super) fn among<'a>(
    value: &'a Expr,
    items: &'a [Expr],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    let same = |item: &'a Expr| {
        let item = env.beside(&value, |env| item.eval(env))?;
        env.read(&item)?;
        Ok(operators::equal(&value, &item))
    };
    Ok(got(decided(items.iter().map(same), true)?))
}

#[cfg(test)]
mod tests {
    use document::Value;
    use evaluation::Context;

    use super::*;
    use crate::logic::and;

    #[test]
    fn nothing_is_neither_true_nor_false() {
        let context = Context::default();
        let all = [Some(true), Some(false), None];
        for a in all {
            for b in all {
                let items = [a, b].map(|truth| match truth {
                    Some(truth) => Expr::Constant(Value::Bool(truth)),
                    None => Expr::Undefined,
                });
                let mut env = Env::new(1, &context);
                let both =
                    if a == Some(false) || b == Some(false) { Some(false) } else { a.and(b) };
                let either = if a == Some(true) || b == Some(true) { Some(true) } else { a.and(b) };
                assert_eq!(and(a, b), both);
                assert_eq!(truth(&super::all(&items, &mut env).unwrap()), both, "{a:?} {b:?}");
                assert_eq!(truth(&any(&items, &mut env).unwrap()), either, "{a:?} {b:?}");
            }
        }
    }
}
