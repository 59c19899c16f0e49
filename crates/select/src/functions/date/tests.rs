//! Calls of date functions. The current time is 2024-10-14T14:20:30.666Z.

use super::super::tests::check;

#[test]
fn the_present_is_the_instant_of_the_operation() {
    for name in ["GETCURRENTDATETIME", "GETCURRENTDATETIMESTATIC", "NOW"] {
        check(&[(&format!("{name}()"), "'2024-10-14T14:20:30.6660000Z'")]);
    }
    check(&[
        ("GETCURRENTTICKS()", "17289156306660000"),
        ("GETCURRENTTICKSSTATIC()", "17289156306660000"),
        ("GETCURRENTTIMESTAMP()", "1728915630666"),
        ("GETCURRENTTIMESTAMPSTATIC()", "1728915630666"),
        ("NOW('yyyy',1)", "'2025-10-14T14:20:30.6660000Z'"),
        ("NOW('ss',30)", "'2024-10-14T14:21:00.6660000Z'"),
        ("NOW('yyyy')", "undefined"),
        ("NOW('week',1)", "undefined"),
        ("AGO('yyyy',1)", "'2023-10-14T14:20:30.6660000Z'"),
        ("AGO('yyyy',-1)", "'2025-10-14T14:20:30.6660000Z'"),
        ("AGO('ms',4)", "'2024-10-14T14:20:30.6620000Z'"),
        ("AGO('yyyy',-9223372036854775808)", "undefined"),
        ("AGO('yyyy',9999)", "undefined"),
    ]);
}

#[test]
fn parts_are_added() {
    check(&[
        ("DATETIMEADD('yyyy',1,'2020-07-03T00:00:00.0000000')", "'2021-07-03T00:00:00.0000000Z'"),
        ("DATETIMEADD('mm',-1,'2020-07-03')", "'2020-06-03T00:00:00.0000000Z'"),
        ("DATETIMEADD('month',1,'2023-01-31')", "'2023-02-28T00:00:00.0000000Z'"),
        ("DATETIMEADD('year',1,'2024-02-29')", "'2025-02-28T00:00:00.0000000Z'"),
        ("DATETIMEADD('dd',-3,'2024-03-01')", "'2024-02-27T00:00:00.0000000Z'"),
        ("DATETIMEADD('hh',-1,'2020-07-03')", "'2020-07-02T23:00:00.0000000Z'"),
        ("DATETIMEADD('mi',90,'2020-07-03')", "'2020-07-03T01:30:00.0000000Z'"),
        ("DATETIMEADD('ss',-25,'2020-07-03')", "'2020-07-02T23:59:35.0000000Z'"),
        ("DATETIMEADD('ms',1,'2020-07-03')", "'2020-07-03T00:00:00.0010000Z'"),
        ("DATETIMEADD('mcs',1,'2020-07-03')", "'2020-07-03T00:00:00.0000010Z'"),
        ("DATETIMEADD('ns',250,'2020-07-03')", "'2020-07-03T00:00:00.0000002Z'"),
        ("DATETIMEADD('D',1,'2020-07-03')", "'2020-07-04T00:00:00.0000000Z'"),
        ("DATETIMEADD('dd',1.5,'2020-07-03')", "undefined"),
        ("DATETIMEADD('week',1,'2020-07-03')", "undefined"),
        ("DATETIMEADD('dd',1,'yesterday')", "undefined"),
        ("DATETIMEADD('dd',1,'9999-12-31')", "undefined"),
        ("DATETIMEADD('yyyy',9223372036854775807,'2020-07-03')", "undefined"),
        ("DATETIMEADD('dd',9223372036854775807,'2020-07-03')", "undefined"),
        ("DATETIMEADD('dd',undefined,'2020-07-03')", "undefined"),
    ]);
}

#[test]
fn boundaries_are_counted() {
    let past = "'2019-02-04T16:00:00.0000000','2018-03-05T05:00:00.0000000'";
    let future = "'2018-03-05T05:00:00.0000000','2019-02-04T16:00:00.0000000'";
    for (part, count) in [("yyyy", 1), ("mm", 11), ("dd", 336), ("hh", 8075), ("ss", 29_070_000)] {
        check(&[
            (&format!("DATETIMEDIFF('{part}',{past})"), &format!("-{count}")),
            (&format!("DATETIMEDIFF('{part}',{future})"), &count.to_string()),
        ]);
    }
    check(&[
        ("DATETIMEDIFF('yyyy','2020-12-31T23:59:59','2021-01-01')", "1"),
        ("DATETIMEDIFF('dd','1969-12-31T23:59:59','1970-01-01')", "1"),
        ("DATETIMEDIFF('mi','2020-01-01T00:00:59','2020-01-01T00:01:00')", "1"),
        ("DATETIMEDIFF('ms','2020-01-01','2020-01-02')", "86400000"),
        ("DATETIMEDIFF('ns','1970-01-01','1970-01-01T00:00:00.0000001')", "100"),
        ("DATETIMEDIFF('ns','0001-01-01','9999-12-31')", "3.155378112e+20"),
        ("DATETIMEDIFF('weekday','2020-01-01','2020-01-02')", "undefined"),
        ("DATETIMEDIFF('dd','2020-01-01',20200102)", "undefined"),
        ("DATETIMEDIFF('dd',undefined,'2020-01-02')", "undefined"),
    ]);
}

#[test]
fn parts_are_read() {
    let at = "'2016-05-29T08:30:00.1301617'";
    for (part, value) in [
        ("yyyy", 2016),
        ("month", 5),
        ("d", 29),
        ("hour", 8),
        ("n", 30),
        ("s", 0),
        ("ms", 130),
        ("mcs", 130_161),
        ("ns", 130_161_700),
    ] {
        check(&[(&format!("DATETIMEPART('{part}',{at})"), &value.to_string())]);
    }
    check(&[
        ("DATETIMEPART('week',{'a':1})", "undefined"),
        ("DATETIMEPART('yyyy','2016')", "undefined"),
        ("DAY('2024-01-10')", "10"),
        ("MONTH('2000-12-12T10:00:00')", "12"),
        ("YEAR('1989-03-03T12:12:12.1234567Z')", "1989"),
        ("YEAR(1989)", "undefined"),
    ]);
}

#[test]
fn bins_begin_at_multiples_from_an_origin() {
    let at = "'2021-01-08T18:35:00.0000000'";
    for (rest, want) in [
        ("'dd'", "2021-01-08T00:00:00.0000000Z"),
        ("'hh'", "2021-01-08T18:00:00.0000000Z"),
        ("'ss'", "2021-01-08T18:35:00.0000000Z"),
        ("'hh',5", "2021-01-08T15:00:00.0000000Z"),
        ("'dd',7", "2021-01-07T00:00:00.0000000Z"),
        ("'dd',7,'1601-01-01T00:00:00.0000000'", "2021-01-04T00:00:00.0000000Z"),
        ("'yyyy'", "2021-01-01T00:00:00.0000000Z"),
        ("'yyyy',10", "2020-01-01T00:00:00.0000000Z"),
        ("'mm',3", "2021-01-01T00:00:00.0000000Z"),
        ("'mm',1,'2020-01-31'", "2020-12-31T00:00:00.0000000Z"),
        ("'mm',2,'2030-01-09'", "2020-11-09T00:00:00.0000000Z"),
        ("'dd',7,'2030-01-01'", "2021-01-05T00:00:00.0000000Z"),
        ("'ns',9223372036854775807", "1970-01-01T00:00:00.0000000Z"),
    ] {
        check(&[(&format!("DATETIMEBIN({at},{rest})"), &format!("'{want}'"))]);
    }
    check(&[
        ("DATETIMEBIN('2021-01-08','week')", "undefined"),
        ("DATETIMEBIN('2021-01-08','dd',0)", "undefined"),
        ("DATETIMEBIN('2021-01-08','dd',-1)", "undefined"),
        ("DATETIMEBIN('2021-01-08','dd',1.5)", "undefined"),
        ("DATETIMEBIN('2021-01-08','yyyy',9223372036854775807)", "undefined"),
        ("DATETIMEBIN('2021-01-08','dd',1,'1600-12-31')", "undefined"),
        ("DATETIMEBIN('2021-01-08','dd',1,'x')", "undefined"),
        ("DATETIMEBIN('2021-01-08','dd',undefined)", "undefined"),
        ("DATETIMEBIN(5,'dd')", "undefined"),
        ("DATETIMEBIN('0001-01-01','dd',36500)", "undefined"),
    ]);
}

#[test]
fn dates_are_made_of_numbers_and_become_numbers() {
    check(&[
        ("DATETIMEFROMPARTS(2017,4,20)", "'2017-04-20T00:00:00.0000000Z'"),
        ("DATETIMEFROMPARTS(2017,4,20,13,15)", "'2017-04-20T13:15:00.0000000Z'"),
        ("DATETIMEFROMPARTS(2017,4,20,13,15,20,3456789)", "'2017-04-20T13:15:20.3456789Z'"),
        ("DATETIMEFROMPARTS(-2000,-1,-1)", "undefined"),
        ("DATETIMEFROMPARTS(2023,2,29)", "undefined"),
        ("DATETIMEFROMPARTS(2023,9223372036854775807,1)", "undefined"),
        ("DATETIMEFROMPARTS(2023,1,1,24)", "undefined"),
        ("DATETIMEFROMPARTS(2023,1,1,0,0,0,10000000)", "undefined"),
        ("DATETIMEFROMPARTS(2023,1,1,undefined)", "undefined"),
        ("DATETIMETOTICKS('2015-05-19T12:00:00.0000000')", "14320368000000000"),
        ("DATETIMETOTICKS('1601-01-01')", "-116444736000000000"),
        ("DATETIMETOTICKS('x')", "undefined"),
        ("DATETIMETOTIMESTAMP('2015-05-19T12:00:00.0000000')", "1432036800000"),
        ("DATETIMETOTIMESTAMP('1969-12-31T23:59:59.9999999')", "-1"),
        ("TICKSTODATETIME(15973607943002652)", "'2020-08-13T23:19:54.3002652Z'"),
        ("TICKSTODATETIME(0)", "'1970-01-01T00:00:00.0000000Z'"),
        ("TICKSTODATETIME(-116444736000000000)", "'1601-01-01T00:00:00.0000000Z'"),
        ("TICKSTODATETIME(9223372036854775807)", "undefined"),
        ("TICKSTODATETIME(1.5)", "undefined"),
        ("TIMESTAMPTODATETIME(1597360794300)", "'2020-08-13T23:19:54.3000000Z'"),
        ("TIMESTAMPTODATETIME(-11644473600000)", "'1601-01-01T00:00:00.0000000Z'"),
        ("TIMESTAMPTODATETIME(9223372036854775807)", "undefined"),
        ("DATETIMEFORMAT('2024-10-10 14:40:20','yyyyMMdd')", "'20241010'"),
        (
            "DATETIMEFORMAT('2024-10-10 14:40:20','To\\\\da\\\\y i\\\\s: yyyy-MM-ddTHH:mm:ss.FFF')",
            "'Today is: 2024-10-10T14:40:20.'",
        ),
        ("DATETIMEFORMAT('x','yyyy')", "undefined"),
        ("DATETIMEFORMAT('2024-10-10',1)", "undefined"),
    ]);
}
