//! Functions of geometries: GeoJSON points, lines and polygons. An argument that is no valid
//! geometry makes the result undefined, except for the functions that check validity.
//!
//! A container's settings select the surface on which its geometries lie, so each function is in two
//! tables: [`FUNCTIONS`] for the Earth, and [`IN_PLANE`].

use document::{Value, ValueRef, doc};
use evaluation::{Error, Evaluated, check_built, check_held};
use geometry::{Geometry, Meter, Refusal, Surface};

use super::{Call, Function, UNDEFINED, row};
use crate::number::number_or_nothing;

/// Upper bound of the memory for a parsed geometry, in sizes of its value.
const PARSED_SIZES: usize = 3;

pub(super) const FUNCTIONS: &[Function] = &[
    row("ST_AREA", 1..=1, |call| area(call, Surface::Earth)),
    row("ST_DISTANCE", 2..=2, |call| distance(call, Surface::Earth)),
    row("ST_INTERSECTS", 2..=2, |call| intersects(call, Surface::Earth)),
    row("ST_ISVALID", 1..=1, |call| is_valid(call, Surface::Earth)),
    row("ST_ISVALIDDETAILED", 1..=1, |call| is_valid_detailed(call, Surface::Earth)),
    row("ST_WITHIN", 2..=2, |call| is_within(call, Surface::Earth)),
];

pub(super) const IN_PLANE: &[Function] = &[
    row("ST_AREA", 1..=1, |call| area(call, Surface::Plane)),
    row("ST_DISTANCE", 2..=2, |call| distance(call, Surface::Plane)),
    row("ST_INTERSECTS", 2..=2, |call| intersects(call, Surface::Plane)),
    row("ST_ISVALID", 1..=1, |call| is_valid(call, Surface::Plane)),
    row("ST_ISVALIDDETAILED", 1..=1, |call| is_valid_detailed(call, Surface::Plane)),
    row("ST_WITHIN", 2..=2, |call| is_within(call, Surface::Plane)),
];

type Result<T> = std::result::Result<T, Error>;

/// Parses an argument; `None` if it is no valid geometry.
fn geometry_at(call: &Call<'_, '_>, at: usize, surface: Surface) -> Result<Option<Geometry>> {
    let Some(value) = call.argument(at) else { return Ok(None) };
    match parse(call, value, surface) {
        Ok(geometry) => Ok(Some(geometry)),
        Err(Refusal::Invalid(_)) => Ok(None),
        Err(Refusal::Ended(error)) => Err(error),
    }
}

fn parse(
    call: &Call<'_, '_>,
    value: ValueRef<'_>,
    surface: Surface,
) -> std::result::Result<Geometry, Refusal> {
    let memory = check_built(value)?.memory.saturating_mul(PARSED_SIZES);
    check_held(call.held.saturating_add(memory), &call.context.operation_memory)?;
    Geometry::parse(value, surface, &|units| call.spend_work(units))
}

/// Evaluates a function of two geometries; `None` if an argument is no valid geometry.
fn on_two_geometries<T>(
    call: &Call<'_, '_>,
    surface: Surface,
    evaluate: fn(&Geometry, &Geometry, Meter<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let Some(first) = geometry_at(call, 0, surface)? else { return Ok(None) };
    let Some(second) = geometry_at(call, 1, surface)? else { return Ok(None) };
    evaluate(&first, &second, &|units| call.spend_work(units)).map(Some)
}

fn area<'a>(call: &Call<'_, 'a>, surface: Surface) -> Result<Evaluated<'a>> {
    let Some(geometry) = geometry_at(call, 0, surface)? else { return UNDEFINED };
    Ok(number_or_nothing(geometry.area(&|units| call.spend_work(units))?))
}

fn distance<'a>(call: &Call<'_, 'a>, surface: Surface) -> Result<Evaluated<'a>> {
    let distance = on_two_geometries(call, surface, Geometry::distance)?;
    Ok(distance.map_or(Evaluated::Missing, number_or_nothing))
}

fn intersects<'a>(call: &Call<'_, 'a>, surface: Surface) -> Result<Evaluated<'a>> {
    Ok(on_two_geometries(call, surface, Geometry::intersects)?.map(Value::Bool).into())
}

fn is_within<'a>(call: &Call<'_, 'a>, surface: Surface) -> Result<Evaluated<'a>> {
    Ok(on_two_geometries(call, surface, Geometry::is_within)?.map(Value::Bool).into())
}

/// Returns whether the argument is a valid geometry; undefined if it is undefined.
fn is_valid<'a>(call: &Call<'_, 'a>, surface: Surface) -> Result<Evaluated<'a>> {
    if call.argument(0).is_none() {
        return UNDEFINED;
    }
    let is_valid = geometry_at(call, 0, surface)?.is_some();
    Ok(Evaluated::Owned(Value::Bool(is_valid)))
}

/// Returns whether the argument is a valid geometry, and why it is not.
fn is_valid_detailed<'a>(call: &Call<'_, 'a>, surface: Surface) -> Result<Evaluated<'a>> {
    let Some(value) = call.argument(0) else { return UNDEFINED };
    let details = match parse(call, value, surface) {
        Ok(_) => doc! { "valid": true },
        Err(Refusal::Invalid(reason)) => doc! { "valid": false, "reason": reason },
        Err(Refusal::Ended(error)) => return Err(error),
    };
    Ok(Evaluated::Owned(Value::Document(details)))
}

#[cfg(test)]
mod tests {
    use document::json;
    use evaluation::{Context, Evaluated, Kind, MAX_WORK};

    use super::super::{Surface, find_function, on_surface, tests::check};

    const SQUARE: &str = "{'type':'Polygon','coordinates':[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}";

    fn point(coordinates: &str) -> String {
        format!("{{'type':'Point','coordinates':[{coordinates}]}}")
    }

    #[test]
    fn invalid_arguments_are_undefined() {
        for wrong in [
            "undefined".to_owned(),
            "null".to_owned(),
            "1".to_owned(),
            "{}".to_owned(),
            point("0,91"),
            point("-181,0"),
            point("'0',0"),
            "{'type':'MultiPoint','coordinates':[[0,0]]}".to_owned(),
        ] {
            for name in ["ST_DISTANCE", "ST_WITHIN", "ST_INTERSECTS"] {
                let sides =
                    [format!("{name}({wrong},{SQUARE})"), format!("{name}({SQUARE},{wrong})")];
                sides.iter().for_each(|call| check(&[(call, "undefined")]));
            }
            check(&[(&format!("ST_AREA({wrong})"), "undefined")]);
            let is_valid = if wrong == "undefined" { "undefined" } else { "false" };
            check(&[(&format!("ST_ISVALID({wrong})"), is_valid)]);
        }
    }

    #[test]
    fn results_have_the_types_of_the_service() {
        check(&[
            (&format!("ST_DISTANCE({},{})", point("5,5"), point("5,5")), "0"),
            (&format!("ST_DISTANCE({},{SQUARE})", point("0.5,0.5")), "0"),
            (&format!("ST_WITHIN({},{SQUARE})", point("0.5,0.5")), "true"),
            (&format!("ST_WITHIN({},{SQUARE})", point("0,0")), "false"),
            (&format!("ST_INTERSECTS({},{SQUARE})", point("0,0")), "true"),
            (&format!("ST_AREA({})", point("0,0")), "0"),
            (&format!("ST_ISVALID({SQUARE})"), "true"),
            (&format!("ST_ISVALIDDETAILED({SQUARE})"), "{'valid':true}"),
            (
                &format!("ST_ISVALIDDETAILED({})", point("31.9,-132.8")),
                "{'valid':false,'reason':'Latitude values must be between -90 and 90 degrees.'}",
            ),
        ]);
    }

    #[test]
    fn a_plane_has_other_distances_and_no_bounds() {
        let evaluate = |surface: Surface| {
            let args = ["0,0", "300,400"].map(|it| point(it).replace('\'', "\""));
            let args = args.map(|it| json::parse(it.as_bytes(), 9).unwrap());
            let args = args.each_ref().map(|it| Evaluated::Ref(it.as_ref()));
            let function = on_surface(find_function("st_distance").unwrap(), surface);
            let got = function.run(&args, &Context::default(), 0).unwrap();
            got.value().map(json::to_string)
        };
        assert_eq!(evaluate(Surface::Earth), None);
        assert_eq!(evaluate(Surface::Plane).as_deref(), Some("500"));
        let other = find_function("ABS").unwrap();
        assert!(std::ptr::eq(on_surface(other, Surface::Plane), other));
    }

    #[test]
    fn work_grows_with_the_pairs_of_edges() {
        let line = |lat: f64, len: usize| {
            let at = |step: usize| format!("[{},{lat}]", step as f64 / 100.0);
            let points: Vec<String> = (0..len).map(at).collect();
            let text =
                format!("{{\"type\":\"LineString\",\"coordinates\":[{}]}}", points.join(","));
            json::parse(text.as_bytes(), 9).unwrap()
        };
        let work = |len: usize, before: usize| {
            let (a, b) = (line(0.0, len), line(1.0, len));
            let context = Context::default();
            context.budget.spend_bounded(before).unwrap();
            let args = [Evaluated::Ref(a.as_ref()), Evaluated::Ref(b.as_ref())];
            let got = find_function("ST_DISTANCE").unwrap().run(&args, &context, 0);
            (got.map(|_| ()), context.budget.spent())
        };
        let ((few, of_few), (more, of_more)) = (work(10, 0), work(100, 0));
        few.unwrap();
        more.unwrap();
        assert!(30 * of_few < of_more, "{of_few} {of_more}");
        let (refused, _) = work(100, usize::try_from(MAX_WORK).unwrap() - 300_000);
        assert_eq!(refused.unwrap_err().kind, Kind::TooLarge);
    }
}
