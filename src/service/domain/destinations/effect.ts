/** Says which streams a change of a destination interrupts, and whether viewers lose the picture. It names those that the request may see. */
import { listReceivers } from '../../../core/resources/stream/destinations.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { callReached, listReachedIds } from '../limits/reached.ts';
import type { DestinationChange } from './record.ts';

/** A stream on air to the destination, and the destinations that receive it. */
export interface Interrupted {
  stream: LoopStream;
  /** Undefined: nobody can say which of those in its spec do. */
  receiving: readonly string[] | undefined;
}

/** `interrupted` is empty where the change leaves address, key and login as they are. */
export function judgeDestinationChange(
  id: string,
  interrupted: readonly Interrupted[],
): Pick<DestinationChange, 'takesOffAir' | 'effect' | 'streamIDs'> {
  const streams = interrupted.map(({ stream }) => stream);
  const streamIDs = listReachedIds(streams);
  if (streams.length === 0)
    return { takesOffAir: false, effect: 'Viewers see no change: no stream leaves this destination.', streamIDs };
  const takesOffAir = interrupted.some(({ stream, receiving }) => {
    const all = listReceivers(stream.spec).filter((name) => receiving?.includes(name) ?? true);
    return all.length === 1 && all[0] === id;
  });
  const noun = streams.length === 1 ? 'The stream' : 'The streams';
  const [leaves, connects] = streams.length === 1 ? ['leaves', 'connects'] : ['leave', 'connect'];
  const effect =
    `${noun} ${callReached(streams)} ${leaves} the old address and key, and ${connects} to the new ones. ` +
    'If these do not work, viewers see nothing until they do.';
  return { takesOffAir, effect, streamIDs };
}
