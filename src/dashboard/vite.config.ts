import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build, defineConfig, type Plugin } from 'vite';
import { packageFolders, readNotice, writeSections } from '../../scripts/notices.ts';
import { DEVELOPER_PAGES, developers, readReferenceNotice } from './vite.developers.ts';

/** Below it the packed file is hardly smaller. */
const WORTH_BYTES = 1024;
/** The highest takes twenty times as long, for a twentieth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Our own modules, and the libraries of all pages. Charts, players and dragging are loaded where they are needed. */
const SHARED = /\/src\/|\/@mantine\/(core|hooks|form)\/|\/@tabler\/|\/@tanstack\//;

/** Puts a packed copy beside each file: the API server sends that, and packs nothing itself. */
const packed = (): Plugin => ({
  name: 'packed',
  apply: 'build',
  async writeBundle({ dir = '' }, bundle) {
    const pack = async (name: string, content: Uint8Array) => {
      const [br, gz] = await Promise.all([promisify(brotliCompress)(content, BROTLI), promisify(gzip)(content)]);
      await Promise.all([writeFile(join(dir, `${name}.br`), br), writeFile(join(dir, `${name}.gz`), gz)]);
    };
    const files = Object.values(bundle).map((file): [string, Uint8Array] => [
      file.fileName,
      Buffer.from(file.type === 'chunk' ? file.code : file.source),
    ]);
    const worth = files.filter(([name, content]) => /\.(js|css|html|svg)$/.test(name) && content.length > WORTH_BYTES);
    await Promise.all(worth.map(([name, content]) => pack(name, content)));
  },
});

/** Of the packages in the page, for its readers; the image's build puts those of the server beside them. */
const notices = (): Plugin => ({
  name: 'notices',
  apply: 'build',
  async generateBundle() {
    const own = packageFolders(this.getModuleIds()).map(readNotice);
    const source = writeSections([...own, await readReferenceNotice()]);
    this.emitFile({ type: 'asset', fileName: 'third-party-notices.txt', source });
  },
});

/** Builds the pages for developers once the page is there. They share no file with it: its first load has as few as can be. */
const developerPages = (): Plugin => ({
  name: 'developer-pages',
  apply: 'build',
  async closeBundle() {
    await build({
      configFile: false,
      root: import.meta.dirname,
      logLevel: 'warn',
      publicDir: false,
      plugins: [...developers(), packed()],
      build: { ...BUILD, emptyOutDir: false, rolldownOptions: { input: DEVELOPER_PAGES } },
    });
  },
});

const BUILD = {
  outDir: '../../dist/dashboard',
  target: 'es2022',
  // The page is served under a Content-Security-Policy without data: scripts or fonts, so nothing is inlined.
  assetsInlineLimit: 0,
  // mpegts.js alone is larger than the warning's default; it is loaded when a live preview is shown.
  chunkSizeWarningLimit: 700,
};

/** `vite build src/dashboard` writes the page to dist/dashboard, from where the API server serves it. */
export default defineConfig({
  plugins: [react(), notices(), packed(), developerPages()],
  build: {
    ...BUILD,
    emptyOutDir: true,
    // The modules that every page needs are one file, and those that three pages or more share, icons among them, are another: on a slow
    // connection each further file costs as much time as the first.
    rolldownOptions: {
      // The client has it for receivers, and its package does not tell bundlers that nothing happens when it is loaded.
      treeshake: { moduleSideEffects: [{ test: /\/standardwebhooks\//, sideEffects: false }] },
      output: {
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'], priority: 1 },
            { name: 'shared', test: SHARED, minShareCount: 3 },
          ],
        },
      },
    },
  },
});
