//! Words that are too common to be indexed: articles, pronouns, prepositions, auxiliary verbs.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::Language;

/// The stop words of a language, in lower case.
pub(crate) type StopWords = HashSet<&'static str>;

static SETS: LazyLock<HashMap<Language, StopWords>> = LazyLock::new(|| {
    let lists = [
        (Language::English, ENGLISH),
        (Language::German, GERMAN),
        (Language::French, FRENCH),
        (Language::Spanish, SPANISH),
        (Language::Italian, ITALIAN),
        (Language::Portuguese, PORTUGUESE),
        (Language::Dutch, DUTCH),
    ];
    let set = |(language, list): (Language, &'static str)| {
        (language, list.split_ascii_whitespace().collect())
    };
    lists.into_iter().map(set).collect()
});

/// Returns the stop words of a language; `None` if it has none here.
pub(crate) fn of(language: Language) -> Option<&'static StopWords> {
    SETS.get(&language)
}

const ENGLISH: &str = "a about above after again against all am an and any are aren't as at be \
    because been before being below between both but by can't cannot could couldn't did didn't do \
    does doesn't doing don't down during each few for from further had hadn't has hasn't have \
    haven't having he he'd he'll he's her here here's hers herself him himself his how how's i i'd \
    i'll i'm i've if in into is isn't it it's its itself let's me more most mustn't my myself no \
    nor not of off on once only or other ought our ours ourselves out over own same shan't she \
    she'd she'll she's should shouldn't so some such than that that's the their theirs them \
    themselves then there there's these they they'd they'll they're they've this those through to \
    too under until up very was wasn't we we'd we'll we're we've were weren't what what's when \
    when's where where's which while who who's whom why why's with won't would wouldn't you you'd \
    you'll you're you've your yours yourself yourselves";

const GERMAN: &str = "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass \
    dein dem den der des die dies diese dieser dieses dich dir doch du durch ein eine einem einen \
    einer eines er es euch euer für hat hatte hier hinter ich ihm ihn ihnen ihr im in ist ja kein \
    keine mein mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so \
    über um und uns unser unter vom von vor war waren was weil wenn wer wie wir wird wo zu zum zur";

const FRENCH: &str = "à ai au aux avec c ce ces cette d dans de des du elle elles en es est et eux \
    il ils j je l la le les leur leurs lui m ma mais me même mes moi mon n ne nos notre nous on ou \
    où par pas pour qu que qui s sa sans se ses son sont sur t ta te tes toi ton tu un une vos votre \
    vous y";

const SPANISH: &str = "a al algo como con contra cual cuando de del desde donde durante e el él ella \
    ellas ellos en entre era es esa ese eso esta está este esto ha hasta hay la las le les lo los me \
    mi mis muy más nada ni no nos nosotros o os otra otro para pero poco por porque que qué quien se \
    ser si sin sobre son su sus también tanto te tiene todo todos tu tus un una uno unos y ya yo";

const ITALIAN: &str = "a ad agli ai al alla alle allo anche c che chi ci come con cui da dagli dai \
    dal dalla dalle dei del della delle dello di dove e è ed essere gli ha hanno ho i il in io l la \
    le lei li lo loro lui ma mi mio ne nei nel nella nelle noi non o per perché più quale quella \
    quello questa questo se si sia sono su sua sul sulla suo ti tra tu un una uno vi voi";

const PORTUGUESE: &str = "a à ao aos as às com como da das de dela dele do dos e é ela elas ele eles \
    em entre era essa esse esta está este eu foi isso isto já lhe mais mas me meu minha muito na nas \
    não nem no nos nós o os ou para pela pelo por qual quando que quem se sem ser seu sua são só \
    também te tem um uma você";

const DUTCH: &str = "aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch \
    doen door dus een en er ge geen had heb hebben heeft hem het hier hij hoe hun iemand iets ik in \
    is ja je kan me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over \
    reeds te tegen toch toen tot u uit uw van veel voor want waren was wat we wel werd wie wij wil \
    worden zal ze zelf zich zij zijn zo zonder zou";
