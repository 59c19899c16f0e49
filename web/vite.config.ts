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
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Few large files compress better than many small ones: 16 KB of the budget.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'codemirror', test: /codemirror|lezer|style-mod|crelt|w3c-keyname/ },
            { name: 'pages', test: /src.(pages|pure)\// },
          ],
        },
      },
    },
  },
  // The server refuses changes from a page of another host, so the host stays the page's own.
  server: { proxy: Object.fromEntries(served.map((path) => [path, { target: admin, changeOrigin: false }])) },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
