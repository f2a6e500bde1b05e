import { tanstackRouter } from '@tanstack/router-plugin/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { devServer } from './dev/dev-server.ts';

export default defineConfig(({ command }) => ({
  base: '/ui/',
  plugins: [
    tanstackRouter({ target: 'react', autoCodeSplitting: true, quoteStyle: 'single', disableLogging: true }),
    react(),
    ...(command === 'serve' ? [devServer()] : []),
  ],
  // The server inserts the nonce of each response: src/server/dashboard-files.ts.
  html: command === 'build' ? { cspNonce: '__CSP_NONCE__' } : {},
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
}));
