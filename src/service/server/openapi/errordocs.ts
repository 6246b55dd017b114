/**
 * Documents each code for the pages at /docs/errors, to which the `type` of a problem links, and for docs/errors/. A code may also
 * appear inside a response, and some appear only there (lib/codes/).
 * Pure: no I/O, no clock.
 */
import type { CodeText } from '../../../core/lib/codes/code-text.ts';
import { CODES, type ListedCode, PLACES } from '../../../core/lib/codes/codes.ts';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { PROBLEM_TYPE } from '../http/problem.ts';
import type { OpenApi } from './document.ts';
import { resolveResponse } from './openapi.ts';

export interface ErrorDoc {
  code: string;
  /** Undefined if no response has this code as its problem. */
  status: number | undefined;
  title: string;
  meaning: string;
  /** Advice on it. */
  fix: string;
  /** Chance of the same request to succeed later; empty for codes of no request. */
  again: string;
  /** E.g. `GET /v1/streams/{id}`. Empty if no operation returns it. */
  operations: string[];
  /** True if every operation may return it. */
  everywhere: boolean;
  /** Fields that contain it: `error.code` of an upload. */
  places: string[];
}

const RETRY = 'The same request may succeed later: try again, with growing pauses.';
const PERMANENT = 'The same request will fail again: change it first.';

/** In the order of the tables: codes of requests first. */
export function listErrorDocs(doc: OpenApi): ErrorDoc[] {
  const operations = Object.entries(doc.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      codes: Object.values(responses).flatMap((response) =>
        Object.keys(resolveResponse(doc, response).content?.[PROBLEM_TYPE]?.examples ?? {}),
      ),
    })),
  );
  const known = new Set<string>(Object.keys(ERRORS));
  const others = Map.groupBy(CODES, ({ code }) => code);
  const problems = (Object.keys(ERRORS) as ErrorCode[]).map((code): ErrorDoc => {
    const { status, title, meaning, fix } = ERRORS[code];
    const answering = operations.filter(({ codes }) => codes.includes(code)).map(({ name }) => name);
    const again = status === 429 || status >= 500 ? RETRY : PERMANENT;
    return {
      code,
      status,
      title,
      meaning,
      fix,
      again,
      operations: answering,
      everywhere: answering.length === operations.length,
      places: others.get(code)?.flatMap((state) => describePlaces(state, { meaning, fix })) ?? [],
    };
  });
  const states = [...others].filter(([code]) => !known.has(code));
  return [...problems, ...states.map(([code, found]) => stateDoc(code, found))];
}

/** Where a code appears; with its own words there, if it means something else than as an answer. */
function describePlaces({ places, meaning, fix }: ListedCode, answer: CodeText): string[] {
  const words = meaning === answer.meaning ? '' : `: ${meaning} ${fix}`;
  return places.map((place) => `${PLACES[place]}${words}`);
}

function stateDoc(code: string, found: readonly ListedCode[]): ErrorDoc {
  const title = `${code[0]?.toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`;
  const join = (read: (one: ListedCode) => string) => [...new Set(found.map(read))].join(' ');
  const [meaning, fix] = [join((one) => one.meaning), join((one) => one.fix)];
  const places = found.flatMap((one) => one.places.map((place) => PLACES[place]));
  return { code, status: undefined, title, meaning, fix, again: '', operations: [], everywhere: false, places };
}

/** Describes where a code appears: as a status, or only inside a response. */
export const howItComes = ({ status }: ErrorDoc): string =>
  status === undefined ? 'appears inside responses' : `HTTP status ${status}`;

/** Returns a sentence, or nothing if a list of the operations follows. */
export const whoAnswers = ({ operations, everywhere }: ErrorDoc): string =>
  everywhere ? 'Every operation may return it.' : operations.length === 0 ? 'It belongs to no operation.' : '';

const NOTE =
  '<!-- Made from src/core/lib/codes/, src/service/lib/errors.ts and the routes by `make generate`; a test fails when it is not current. -->';

const markdownList = (lines: readonly string[]): string => lines.map((line) => `- ${line}\n`).join('');

function markdownPage(doc: ErrorDoc): string {
  const { status, title, code, meaning, fix, again, operations, places } = doc;
  const who = whoAnswers(doc) ? `${whoAnswers(doc)}\n` : markdownList(operations.map((name) => `\`${name}\``));
  const sections = [
    ['What to do', `${[fix, again].filter(Boolean).join('\n\n')}\n`],
    ...(status === undefined ? [] : [['Operations that return it', who]]),
    ...(places.length > 0 ? [['Where it appears', markdownList(places)]] : []),
  ];
  const text = sections.map(([heading, body]) => `## ${heading}\n\n${body}`).join('\n');
  return `# ${title}\n\n${NOTE}\n\n\`${code}\`, ${howItComes(doc)}\n\n${meaning}\n\n${text}`;
}

function markdownTable(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)));
  return [head, widths.map((width) => '-'.repeat(width)), ...rows]
    .map((cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`)
    .join('');
}

function markdownIndex(docs: readonly ErrorDoc[]): string {
  const link = (code: string) => `[\`${code}\`](${code}.md)`;
  const problems = docs.flatMap(({ code, status, meaning }) =>
    status === undefined ? [] : [[link(code), String(status), meaning]],
  );
  const states = docs.flatMap(({ code, status, meaning, places }) =>
    status === undefined ? [[link(code), places.join(', '), meaning]] : [],
  );
  return (
    `# Error codes\n\n${NOTE}\n\nErrors are problem documents (RFC 9457, \`application/problem+json\`). Branch on \`code\`, which is stable; \`type\`\n` +
    'is the address of the page about it. GraphQL has the same codes in `extensions.code`.\n\n' +
    `${markdownTable(['code', 'status', 'meaning'], problems)}\n## Codes inside responses\n\n` +
    markdownTable(['code', 'where', 'meaning'], states)
  );
}

/** Maps file names in docs/errors/ to their content. */
export const errorFiles = (docs: readonly ErrorDoc[]): Map<string, string> =>
  new Map([['README.md', markdownIndex(docs)], ...docs.map((doc) => [`${doc.code}.md`, markdownPage(doc)] as const)]);
