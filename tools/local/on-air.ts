/** Puts the requested media on air at the requested destination. */
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import type { LocalEnvironment } from '../process/environment.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import { type Context, mediaDir } from './context.ts';
import { type KnownStream, putOnAir } from './demo.ts';
import { findLocalUrl } from './facts.ts';
import { type LocalOptions, splitTarget } from './options.ts';
import type { LocalFacts, LocalMemory } from './state.ts';

const DEMO_CLIP = resolve(PROJECT_ROOT, 'tools/local/demo/bigbuckbunny.mp4');
const DEMO_NAME = 'bigbuckbunny.mp4';

export interface Wish {
  file: string;
  name: string;
  /** A person's own file or destination: a new stream each time, where the demo is the same stream as last time. */
  own: boolean;
  target: { rtmpUrl: string; rtmpKey: string } | undefined;
}

/** Reads and checks the requested media and destination before anything is started. */
export function parseWish(options: LocalOptions, env: LocalEnvironment): Wish {
  const to = options.to ?? env.to;
  if (options.media !== undefined && !statSync(options.media, { throwIfNoEntry: false })?.isFile()) {
    throw new ConfigError(`The file ${options.media} does not exist.`);
  }
  return {
    file: resolve(options.media ?? DEMO_CLIP),
    name: options.media ? basename(options.media, extname(options.media)) : 'Big Buck Bunny',
    own: options.media !== undefined || to !== undefined,
    target: to === undefined ? undefined : splitTarget(to),
  };
}

/** Puts the wish on air, notes the stream in `facts`, and resolves to the address to watch it at, if it is a local one. */
export async function goOnAir(context: Context, facts: LocalFacts, wish: Wish): Promise<string | undefined> {
  const { options, state, ports, progress, lifecycle } = context;
  const served = wish.own ? `own${extname(wish.file)}` : DEMO_NAME;
  mkdirSync(mediaDir(state), { recursive: true });
  // The demo clip is always served: manifests/samples/ import it from here.
  copyFileSync(DEMO_CLIP, resolve(mediaDir(state), DEMO_NAME));
  if (!options.demo || !facts.apiUrl || !facts.apiKey) return undefined;
  if (wish.own) copyFileSync(wish.file, resolve(mediaDir(state), served));
  const rtmpKey = wish.own ? `own-${Date.now().toString(36)}` : 'demo';
  const target = wish.target ?? { rtmpUrl: facts.rtmpUrl, rtmpKey };
  const request = {
    // The public address may be one that this machine does not reach.
    apiUrl: `${findLocalUrl(context)}/v1`,
    apiKey: facts.apiKey,
    // Pods reach the media server where they reach the receiver.
    mediaUrl: `http://${new URL(facts.rtmpUrl).hostname}:${ports.media}/media/${encodeURIComponent(served)}`,
    name: wish.name,
    ...target,
    known: wish.own ? undefined : recallDemo(state.readMemory()),
  };
  const remember = (id: string) => {
    facts.demoStreamId = id;
    if (wish.own) return;
    state.writeMemory({ ...state.readMemory(), demoStreamId: id, demoMediaUrl: request.mediaUrl });
  };
  await progress.step(`putting ${wish.name} on air`, (detail) =>
    putOnAir(request, { detail, remember, signal: lifecycle.signal }),
  );
  return wish.target ? undefined : `${target.rtmpUrl}/${target.rtmpKey}`;
}

const recallDemo = ({ demoStreamId, demoMediaUrl }: LocalMemory): KnownStream | undefined =>
  demoStreamId === undefined ? undefined : { id: demoStreamId, mediaUrl: demoMediaUrl };
