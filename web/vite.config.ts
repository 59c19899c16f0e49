// How the portal is built: hashed assets, nothing inlined, since the content security policy allows
// nothing inline. `npm run dev` serves it in front of a running server (EBB_ADMIN, host:port).
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

declare const process: { env: Record<string, string | undefined> };

const admin = `http://${process.env.EBB_ADMIN ?? '127.0.0.1:8080'}`;
const served = ['/_portal', '/_ebb', '/status', '/metrics'];

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    // One sheet, with the page: those that failed to load with a part are not asked for again.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Few large files compress better than many small ones: 16 KB of the budget.
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What a group shares with the first screen stays with that.
          includeDependenciesRecursively: false,
          groups: [
            // Of both the palette and the page of queries, neither of which is to bring the other.
            { name: 'history', test: /src.pages.query.(history|tabs.(address|saved))/ },
            // The palette, the sheet of shortcuts, and what they alone need.
            {
              name: 'palette',
              test: /src.shell.(palette|keys.(Keys|Sheet))|src.pure.finding/,
            },
            { name: 'codemirror', test: /codemirror|lezer|style-mod|crelt|w3c-keyname/ },
            // What reads documents, without what edits them, and the field that reads times to live as it does.
            {
              name: 'fields',
              test: /src.pure.(columns|values|shell|ttl|json|exporting|importing.formulas)|src.ui.Seconds/,
            },
            // Import and export are opened by few, and late.
            {
              name: 'transfer',
              test: /src.pages.items.transfer.(?!Transfer|request)|src.pure.importing.(?!formulas)/,
            },
            { name: 'schema', test: /src.pages.schema|src.pure.schema/ },
            {
              name: 'shared',
              test: /src.(api|state)\/(?!listed)|src.pure.(figures|time|keys|\w+\.ts)|src.pages.query.history|src.pages.items.transfer.request|src.ui.(?!Calendar|CodeEditor|Seconds|ThreeWay|completion|editor(?!Props)|highl|lang)/,
            },
            // What helps who types comes with the editor.
            {
              name: 'completing',
              test: /src.ui.completion|src.ui.editor[CR]|src.pure.comp/,
            },
            // What edits text brings CodeMirror with it; the other pages have to do without. What decodes the
            // documents of a list brings BSON with it, which the first page is shown without.
            {
              name: 'editing',
              test: /src.pages.(items|query|settings)\/|src.api.listed|src.pure|src.ui.(CodeEditor|ThreeWay)/,
            },
            // What Home shows of metrics is small; the rest waits until it is asked for.
            {
              name: 'later',
              test: /src.pages.(database|features|metrics.(history|slow|collection|\w+Metrics|Operations|readings))/,
            },
            { name: 'pages', test: /src.pages.(home|metrics)/ },
          ],
        },
      },
    },
  },
  // The server refuses changes from a page of another host, so the host stays the page's own.
  server: {
    proxy: Object.fromEntries(served.map((path) => [path, { target: admin, changeOrigin: false }])),
  },
  // Beside other suites a test has a small part of a processor, so that only one that hangs is ended.
  test: { include: ['src/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
});
