// Build of the portal: hashed assets, nothing inlined, since the content security policy forbids
// it. `npm run dev` serves it in front of a running server (EBB_ADMIN, host:port).
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
    // One sheet for all chunks: a sheet that failed to load with its chunk is not requested again.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Few large files compress better than many small ones: this saves 16 KB of the budget.
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Dependencies shared with the first page stay in its chunk.
          includeDependenciesRecursively: false,
          groups: [
            // Used by the palette and the query page; neither should load the other.
            { name: 'history', test: /src.pages.query.(history|tabs.(address|saved))/ },
            // The palette, the shortcuts sheet, and their own dependencies.
            {
              name: 'palette',
              test: /src.shell.(palette|keys.(Keys|Sheet))|src.pure.finding/,
            },
            { name: 'codemirror', test: /codemirror|lezer|style-mod|crelt|w3c-keyname/ },
            // Code that reads documents but does not edit them, and the TTL input, which uses the
            // same parser.
            {
              name: 'fields',
              test: /src.pure.(columns|values|shell|ttl|json|exporting|importing.formulas)|src.ui.Seconds/,
            },
            // Import and export are rarely used, and late.
            {
              name: 'transfer',
              test: /src.pages.items.transfer.(?!Transfer|request)|src.pure.importing.(?!formulas)/,
            },
            { name: 'schema', test: /src.pages.schema|src.pure.schema/ },
            {
              name: 'shared',
              test: /src.(api|state)\/(?!listed|cutting)|src.pure.(figures|time|keys|\w+\.ts)|src.pages.query.history|src.pages.items.transfer.request|src.ui.(?!Calendar|CodeEditor|Seconds|ThreeWay|completion|editor(?!Props)|highl|lang)/,
            },
            // Completion loads with the editor.
            {
              name: 'completing',
              test: /src.ui.completion|src.ui.editor[CR]|src.pure.comp/,
            },
            // Code that edits text depends on CodeMirror, which other pages do not need. Decoding
            // the documents of a list depends on BSON, which the first page does not need.
            {
              name: 'editing',
              test: /src.pages.(items|query|settings)\/|src.api.(listed|cutting)|src.pure|src.ui.(CodeEditor|ThreeWay)/,
            },
            // Home shows a small part of the metrics; the rest loads on demand.
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
  // The server refuses changes with a foreign Origin, so the Host header stays the page's.
  server: {
    proxy: Object.fromEntries(served.map((path) => [path, { target: admin, changeOrigin: false }])),
  },
  // Generous, since other suites share the CPU: only a hanging test should time out.
  test: { include: ['src/**/*.test.ts'], environment: 'node', testTimeout: 60_000 },
});
