/** Tells Vite how the pages for developers are made: /docs, /graphql and /mcp. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import reference from '@scalar/fastify-api-reference';
import Fastify from 'fastify';
import type { Plugin } from 'vite';
import { type Notice, readNotice } from '../../scripts/notices.ts';

const HERE = import.meta.dirname;
export const DEVELOPER_PAGES = ['docs', 'graphql', 'mcp'].map((name) => join(HERE, `${name}.html`));

const PACKAGE = 'node_modules/@scalar/fastify-api-reference';
const REFERENCE = 'virtual:api-reference';

/** The package contains the script as a text, and serves it by a plugin of Fastify alone. */
async function readReferenceScript(): Promise<string> {
  const app = Fastify();
  await app.register(reference, { routePrefix: '/docs', configuration: { url: '/v1/openapi.json' } });
  const { body } = await app.inject('/docs/js/scalar.js');
  await app.close();
  return body.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

/** A comment that a bundler keeps. Any other `/*` may be a part of a string, where no comment begins. */
// linear-time: the script is that of a package, and a comment has one reading.
const COMMENT = /\/\*[*!]\s[^*]*\*+(?:[^/*][^*]*\*+)*\//g;

/** The notice of that package, with those of the works in its script: Vue's, for example. */
export async function readReferenceNotice(): Promise<Notice> {
  const comments = (await readReferenceScript()).match(COMMENT) ?? [];
  const works = new Set(comments.filter((text) => /@license|MIT License/.test(text)));
  const notice = readNotice(join(HERE, '../..', PACKAGE));
  return { ...notice, text: [notice.text, ...works].join('\n\n') };
}

/** Resolves `virtual:api-reference` to the address of the script, which is a file of its own. */
const apiReference = (): Plugin => ({
  name: 'api-reference',
  resolveId: (id) => (id === REFERENCE ? `\0${REFERENCE}` : undefined),
  async load(id) {
    if (id !== `\0${REFERENCE}`) return undefined;
    const file = this.emitFile({ type: 'asset', name: 'reference.js', source: await readReferenceScript() });
    return `export default import.meta.ROLLUP_FILE_URL_${file};`;
  },
});

const readPart = (name: string): string =>
  readFileSync(join(HERE, 'features/developers', `${name}.html`), 'utf8').trim();

/** Puts in the head and the bar that the pages have in common. */
const frame = (): Plugin => ({
  name: 'frame',
  transformIndexHtml: {
    order: 'pre',
    handler: (html, { path }) =>
      html
        .replace('<!-- head -->', readPart('head'))
        .replace(
          '<!-- top -->',
          readPart('top').replace(`href="${path.replace('.html', '')}"`, '$& aria-current="page"'),
        ),
  },
});

/** Gives readers the schema of GraphQL. */
const schema = (): Plugin => ({
  name: 'schema',
  async generateBundle() {
    const source = await readFile(join(HERE, '../../docs/schema.graphql'));
    this.emitFile({ type: 'asset', fileName: 'schema.graphql', source });
  },
});

export const developers = (): Plugin[] => [apiReference(), frame(), schema()];
