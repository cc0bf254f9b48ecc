// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// No file is put into another as a data: URL, and no script into the HTML: the daemon's
// Content-Security-Policy allows neither.
import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': 'http://127.0.0.1:7171', '/healthz': 'http://127.0.0.1:7171' } },
});
