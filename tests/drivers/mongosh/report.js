// Loaded after the other scripts: the counts, for `run` to add up.
require('node:fs').writeFileSync(process.env.EBB_COUNTS, `${passed} ${failed}\n`);
