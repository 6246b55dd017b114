/** Prints why a rule or an upload of a stream plays at a time, or does not, from the resources alone, without an API server. */
import { explainStream, type ListExplanation } from '../../programme/explain-air.ts';
import { LOOPSTREAMS } from '../../resources/stream/resource.ts';
import { type Invocation, UsageError } from '../shell/call.ts';
import { parseReference } from '../shell/objects.ts';
import { write } from '../shell/output.ts';
import { readLists } from './on-air.ts';
import { parseTime } from './timeline.ts';

export type ExplainFlags = { at?: string; rule?: string; upload?: string; audio?: boolean; output?: string };

function readAsked({ rule, upload }: ExplainFlags) {
  if (rule !== undefined && upload === undefined) return { rule };
  if (upload !== undefined && rule === undefined) return { upload: parseReference(upload, 'upload').name };
  throw new UsageError('Give either --rule or --upload: what did not play.');
}

function format({ code, message, turn, by, lastAt, nextAt, window, exact }: ListExplanation): string {
  const lines: [string, string | null | undefined][] = [
    ['code', code],
    ['plays', turn && `${turn.startAt} ${turn.id}`],
    ['instead', by && `${by.startAt} ${by.id}`],
    ['window', window && `${window.startAt} to ${window.endAt}`],
    ['last', lastAt],
    ['next', nextAt],
    ['times', exact ? undefined : 'estimates, since an item before is still being prepared'],
  ];
  const shown = lines.flatMap(([name, value]) => (value ? `${`${name}:`.padEnd(9)}${value}\n` : []));
  return `${message}\n\n${shown.join('')}`;
}

export async function explainTime({ args, flags, cluster }: Invocation<ExplainFlags>): Promise<number> {
  const now = new Date();
  const asked = readAsked(flags);
  const atMs = parseTime('at', flags.at) ?? now.getTime();
  const opened = cluster();
  const { name } = parseReference(args[0] ?? '', 'stream');
  const stream = await opened.kube.get(LOOPSTREAMS, opened.namespace, name);
  const { lists, findUpload } = await readLists(opened, stream, now);
  const { phase = 'idle' } = stream.status ?? {};
  const track = flags.audio ? 'audio' : undefined;
  const explained = explainStream({ stream, phase, lists, track, asked, atMs, now }, { findUpload });
  write(flags.output === 'json' ? `${JSON.stringify(explained, null, 2)}\n` : format(explained));
  return 0;
}
