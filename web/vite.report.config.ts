// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The page of `ttmem report`: the same parts, without a daemon. One script and one style sheet, which
// scripts/page puts into one file.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  resolve: { alias: [{ find: /^(.*\/live|\.)\/live\.ts$/, replacement: fileURLToPath(new URL('src/report/live.ts', import.meta.url)) }] },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    cssCodeSplit: false,
    rollupOptions: { input: 'src/report/main.tsx', output: { entryFileNames: 'report.js', assetFileNames: 'report.[ext]' } },
  },
});
