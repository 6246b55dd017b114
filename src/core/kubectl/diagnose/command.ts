/** Runs `kubectl loop diagnose`: the story of one object, with what fixes it. */
import { type Kube, KubeError } from '../../kube/types.ts';
import type { Invocation } from '../shell/call.ts';
import { findKindByPrefix, getResource, type ObjectKind, parseReference, type Reference } from '../shell/objects.ts';
import { write } from '../shell/output.ts';
import { tellDestination } from './destination.ts';
import { Reader } from './facts.ts';
import { tellPlaylist } from './playlist.ts';
import { formatStory, type Story } from './story.ts';
import { tellStream } from './stream.ts';
import { tellUpload } from './upload.ts';

const TELLERS: Record<ObjectKind, (reader: Reader, name: string, now: Date) => Promise<Story>> = {
  stream: tellStream,
  upload: tellUpload,
  playlist: tellPlaylist,
  destination: tellDestination,
};

/** A name without a kind is that of a stream, but for one of the API: the person who named a stream `upl-tv` means that. */
async function findReference(kube: Kube, namespace: string, text: string): Promise<Reference> {
  const given = parseReference(text, 'stream', ['stream', 'upload', 'playlist', 'destination']);
  const kind = text.includes('/') ? undefined : findKindByPrefix(given.name);
  if (kind === undefined || kind === 'stream') return given;
  const isThere = async (one: ObjectKind): Promise<boolean> => {
    try {
      return Boolean(await kube.get(getResource(one), namespace, given.name));
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return false;
      throw error;
    }
  };
  return !(await isThere(kind)) && (await isThere('stream')) ? given : { kind, name: given.name };
}

export async function diagnose({ args, cluster }: Invocation): Promise<number> {
  const { kube, namespace } = cluster();
  const { kind, name } = await findReference(kube, namespace, args[0] ?? '');
  const story = await TELLERS[kind](new Reader(kube, namespace), name, new Date());
  write(formatStory(story));
  return story.findings.length === 0 ? 0 : 1;
}
