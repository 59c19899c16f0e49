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
            // What only the grid, files and queries need of the pure parts comes with those.
            { name: 'editing', test: /src.pure.(columns|values|exporting|importing)/ },
            { name: 'codemirror', test: /codemirror|lezer|style-mod|crelt|w3c-keyname/ },
            {
              name: 'shared',
              test: /src.(api|state|pure)\/|src.ui.(?!CodeEditor|editor|highl|lang)/,
            },
            // What edits text brings CodeMirror with it; the other pages have to do without.
            { name: 'editing', test: /src.pages.(items|query|settings)\/|src.ui.CodeEditor/ },
            // What Home shows of metrics is small; the rest waits until it is asked for.
            {
              name: 'later',
              test: /src.pages.(database|features|metrics.(history|\w+Metrics|Operations|readings))/,
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
