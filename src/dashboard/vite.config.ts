import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `vite build src/dashboard` writes the page to dist/dashboard, from where the API server serves it. */
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // The page is served under a Content-Security-Policy without data: scripts or fonts, so nothing is inlined.
    assetsInlineLimit: 0,
    // mpegts.js alone is larger than the warning's default; it is loaded when a live preview is shown.
    chunkSizeWarningLimit: 700,
  },
});
