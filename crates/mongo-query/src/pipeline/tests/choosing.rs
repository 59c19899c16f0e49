//! Stages that select, sort or count rows, and invalid stages: `$match`, `$sort`, `$skip`,
//! `$limit`, `$sample`, `$count`, `$documents`.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("[{$limit: 0}]", "error 15958: the limit must be positive"),
    (
        "[{$limit: -1}]",
        "error 5107201: invalid argument to $limit stage: Expected a non-negative number in: $limit: -1",
    ),
    (
        "[{$limit: 'x'}]",
        r#"error 5107201: invalid argument to $limit stage: Expected a number in: $limit: "x""#,
    ),
    (
        "[{$limit: 1.5}]",
        "error 5107201: invalid argument to $limit stage: Expected an integer: $limit: 1.5",
    ),
    (
        "[{$limit: 2.0}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}",
    ),
    (
        "[{$skip: -1}]",
        "error 5107200: invalid argument to $skip stage: Expected a non-negative number in: $skip: -1",
    ),
    (
        "[{$skip: 'x'}]",
        r#"error 5107200: invalid argument to $skip stage: Expected a number in: $skip: "x""#,
    ),
    (
        "[{$skip: 1.5}]",
        "error 5107200: invalid argument to $skip stage: Expected an integer: $skip: 1.5",
    ),
    ("[{$skip: 4}]", "{_id: 5, l: null}"),
    ("[{$count: 'n'}]", "{n: 5}"),
    ("[{$count: ''}]", "error 40157: the count field must be a non-empty string"),
    ("[{$count: 1}]", "error 40156: the count field must be a non-empty string"),
    ("[{$count: '$a'}]", "error 40158: the count field cannot be a $-prefixed path"),
    ("[{$count: 'a.b'}]", "error 40160: the count field cannot contain '.'"),
    (r#"[{$count: 'a\0'}]"#, "error 40159: the count field cannot contain a null byte"),
    ("[{$match: {a: 'zz'}}, {$count: 'n'}]", ""),
    ("[{$sample: {size: -1}}]", "error 28747: size argument to $sample must not be negative"),
    ("[{$sample: 1}]", "error 28745: the $sample stage specification must be an object"),
    ("[{$sample: {}}]", "error 28749: $sample stage must specify a size"),
    ("[{$sample: {size: 'x'}}]", "error 28746: size argument to $sample must be a number"),
    ("[{$sample: {size: 1, z: 1}}]", "error 28748: unrecognized option to $sample: z"),
    ("[{$sample: {size: 0}}]", ""),
    ("[{$sort: {}}]", "error 15976: $sort stage must have at least one sort key"),
    ("[{$sort: 1}]", "error 15973: the $sort key specification must be an object"),
    (
        "[{$sort: {a: 0}}]",
        "error 15975: $sort key ordering must be 1 (for ascending) or -1 (for descending)",
    ),
    ("[{$match: 1}]", "error 15959: the match filter must be an expression in an object"),
    ("[{$foo: 1}]", "error 40324: Unrecognized pipeline stage name: '$foo'"),
    ("[{}]", "error 40323: A pipeline stage specification object must contain exactly one field."),
    (
        "[{$match: {}, $sort: 1}]",
        "error 40323: A pipeline stage specification object must contain exactly one field.",
    ),
    (
        "[{$limit: 1}, {$documents: []}]",
        "error 40602: $documents is only valid as the first stage in a pipeline",
    ),
    (
        "[{$limit: 1}, {$collStats: {}}]",
        "error 40602: $collStats is only valid as the first stage in a pipeline",
    ),
    (
        "[{$match: {}}, {$indexStats: {}}]",
        "error 40602: $indexStats is only valid as the first stage in a pipeline",
    ),
    (
        "[{$limit: 1}, {$currentOp: {}}]",
        "error 40602: $currentOp is only valid as the first stage in a pipeline",
    ),
    ("[{$sort: {_id: -1}}, {$skip: 1}, {$limit: 2}, {$project: {_id: 1}}]", "{_id: 4}; {_id: 3}"),
    (
        "[{$sort: {x: 1, _id: -1}}, {$project: {_id: 1}}]",
        "{_id: 5}; {_id: 4}; {_id: 3}; {_id: 1}; {_id: 2}",
    ),
    ("[{$match: {$expr: {$gt: ['$a', '$_id']}}}, {$project: {_id: 1}}]", "{_id: 4}"),
    ("[{$limit: 3}, {$limit: 2}, {$skip: 1}, {$project: {_id: 1}}]", "{_id: 2}"),
];
