/** Runs `kubectl loop diagnose`: the story of one object, with what fixes it. */
import type { Invocation } from '../shell/call.ts';
import { type ObjectKind, parseReference } from '../shell/objects.ts';
import { write } from '../shell/output.ts';
import { tellDestination } from './destination.ts';
import { Reader } from './facts.ts';
import { formatStory, type Story } from './story.ts';
import { tellStream } from './stream.ts';
import { tellUpload } from './upload.ts';

const TELLERS: Record<ObjectKind, (reader: Reader, name: string, now: Date) => Promise<Story>> = {
  stream: tellStream,
  upload: tellUpload,
  destination: tellDestination,
};

export async function diagnose({ args, cluster }: Invocation): Promise<number> {
  const { kind, name } = parseReference(args[0] ?? '', 'stream', ['stream', 'upload', 'destination']);
  const { kube, namespace } = cluster();
  const story = await TELLERS[kind](new Reader(kube, namespace), name, new Date());
  write(formatStory(story));
  return story.findings.length === 0 ? 0 : 1;
}
