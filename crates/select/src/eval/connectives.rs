//! AND, OR and IN over expressions. Operands are evaluated until the result is decided.

use evaluation::{Error, Evaluated};

use super::{Env, operators};
use crate::{
    logic::{decide, truth_of, truth_value},
    plan::Expr,
};

/// AND: false if one operand is false, else true if all are true, else undefined. Operands after
/// the first false one are not evaluated.
pub(super) fn eval_and<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    Ok(truth_value(decide(items.iter().map(|item| Ok(truth_of(&item.eval(env)?))), false)?))
}

/// OR: true if one operand is true, else false if all are false, else undefined. Operands after the
/// first true one are not evaluated.
pub(super) fn eval_or<'a>(items: &'a [Expr], env: &mut Env<'a>) -> Result<Evaluated<'a>, Error> {
    Ok(truth_value(decide(items.iter().map(|item| Ok(truth_of(&item.eval(env)?))), true)?))
}

/// IN: true if the value equals an item; else undefined if the value or an item is undefined; else
/// false.
pub(super) fn eval_in<'a>(
    value: &'a Expr,
    items: &'a [Expr],
    env: &mut Env<'a>,
) -> Result<Evaluated<'a>, Error> {
    let value = value.eval(env)?;
    let same = |item: &'a Expr| {
        let item = env.while_holding(&value, |env| item.eval(env))?;
        env.spend_reading(&item)?;
        Ok(operators::equals(&value, &item))
    };
    Ok(truth_value(decide(items.iter().map(same), true)?))
}

#[cfg(test)]
mod tests {
    use document::Value;
    use evaluation::Context;

    use super::*;
    use crate::logic::and_truths;

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
                assert_eq!(and_truths(a, b), both);
                assert_eq!(
                    truth_of(&super::eval_and(&items, &mut env).unwrap()),
                    both,
                    "{a:?} {b:?}"
                );
                assert_eq!(truth_of(&eval_or(&items, &mut env).unwrap()), either, "{a:?} {b:?}");
            }
        }
    }
}
