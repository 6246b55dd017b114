/**
 * What is told of each code: by the pages at /docs/errors, to which the `type` of a problem leads, and by docs/errors/.
 * Pure: no I/O, no clock.
 */
import { ERRORS, type ErrorCode } from '../errors.ts';
import type { OpenApi } from './document.ts';
import { resolveResponse } from './openapi.ts';
import { PROBLEM_TYPE } from './problem.ts';

export interface ErrorDoc {
  code: ErrorCode;
  status: number;
  title: string;
  meaning: string;
  /** What to do about it. */
  fix: string;
  /** Whether the same request may succeed later. */
  again: string;
  /** E.g. `GET /v1/streams/{id}`. Empty: it is about no operation. */
  operations: string[];
  /** True when every operation may answer with it. */
  everywhere: boolean;
}

const RETRY = 'The same request may succeed later: try again, with growing pauses.';
const PERMANENT = 'The same request will fail again: change it first.';

/** In the order of the table. */
export function errorDocsOf(doc: OpenApi): ErrorDoc[] {
  const operations = Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      codes: Object.values(responses).flatMap((response) =>
        Object.keys(resolveResponse(doc, response).content?.[PROBLEM_TYPE]?.examples ?? {}),
      ),
    })),
  );
  return (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const { status, title, meaning, fix } = ERRORS[code];
    const answering = operations.filter(({ codes }) => codes.includes(code)).map(({ name }) => name);
    const again = status === 429 || status >= 500 ? RETRY : PERMANENT;
    return {
      ...{ code, status, title, meaning, fix, again },
      operations: answering,
      everywhere: answering.length === operations.length,
    };
  });
}

/** In a sentence or, when they are some of many, as a list. */
export const whoAnswers = ({ operations, everywhere }: ErrorDoc): string =>
  everywhere ? 'Every operation may answer with it.' : operations.length === 0 ? 'It is about no operation.' : '';

const NOTE = '<!-- Made from src/errors.ts and the routes by `make generate`; a test fails when it is not current. -->';

const markdownPage = (doc: ErrorDoc): string =>
  `# ${doc.title}\n\n${NOTE}\n\n\`${doc.code}\`, HTTP status ${doc.status}\n\n${doc.meaning}\n\n` +
  `## What to do\n\n${doc.fix}\n\n${doc.again}\n\n## Who answers with it\n\n` +
  `${whoAnswers(doc) || doc.operations.map((operation) => `- \`${operation}\``).join('\n')}\n`;

function markdownIndex(docs: readonly ErrorDoc[]): string {
  const rows = docs.map(({ code, status, meaning }) => [`[\`${code}\`](${code}.md)`, String(status), meaning]);
  const head = ['code', 'status', 'meaning'];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)));
  const table = [head, widths.map((width) => '-'.repeat(width)), ...rows].map(
    (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`,
  );
  return (
    `# Error codes\n\n${NOTE}\n\nErrors are problem documents (RFC 9457, \`application/problem+json\`). Branch on \`code\`, which is stable; \`type\`\n` +
    `leads to a page as these are. GraphQL has the same codes in \`extensions.code\`.\n\n${table.join('')}`
  );
}

/** File name in docs/errors/ → content. */
export const errorFiles = (docs: readonly ErrorDoc[]): Map<string, string> =>
  new Map([['README.md', markdownIndex(docs)], ...docs.map((doc) => [`${doc.code}.md`, markdownPage(doc)] as const)]);
