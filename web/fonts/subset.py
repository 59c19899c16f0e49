"""Makes the portal's two fonts of Inter, as @fontsource-variable/inter has it.

Run it in web/ after `npm ci`, with fonttools and brotli installed: `python fonts/subset.py`. It is
not part of the build: the fonts it makes are kept in src/styles.
"""

from fontTools.subset import main as subset
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

SOURCE = "node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"
FIRST = "20-7E,A0,B7,D7,2013,2014,2018,2019,201C,201D,2026,203A"
LATIN_1 = "A1-B6,B8-D6,D8-FF"
MADE = "/tmp/inter-400-700.ttf"


def keep_tabular_digits_only(font: TTFont) -> None:
    """Hyphens and points keep their width where figures are tabular."""
    digits = {font.getBestCmap()[ord(digit)] for digit in "0123456789"}
    table = font["GSUB"].table
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag != "tnum":
            continue
        for index in record.Feature.LookupListIndex:
            for part in table.LookupList.Lookup[index].SubTable:
                inner = getattr(part, "ExtSubTable", part)
                inner.mapping = {a: b for a, b in inner.mapping.items() if a in digits}


font = instantiateVariableFont(TTFont(SOURCE), {"wght": (400, 700)})
keep_tabular_digits_only(font)
font.save(MADE)
for name, codes, features in [("inter-latin", FIRST, "tnum"), ("inter-latin-1", LATIN_1, "")]:
    subset(
        [
            MADE,
            f"--unicodes={codes}",
            f"--layout-features={features}",
            "--no-hinting",
            "--flavor=woff2",
            f"--output-file=src/styles/{name}.woff2",
        ]
    )
