/** Puts what a change of a stream does to its viewers in a sentence. Pure: no I/O, no clock. */
import type { StreamEffect } from '../../../core/resources/stream/effect.ts';
import type { Stream } from './record.ts';

/**
 * `effect` is undefined where no viewer could see the stream before. `nextStartAt` is that of the stream after the change. `lostNames`
 * lists the destinations that it leaves, as people call them.
 */
export function describeEffect(
  effect: StreamEffect | undefined,
  { nextStartAt }: Pick<Stream, 'nextStartAt'>,
  lostNames: string,
): string {
  if (!effect) return 'Viewers see no change: the stream is not on air.';
  const { takesOffAir, isEnded, lost } = effect;
  if (isEnded) {
    const next = nextStartAt === null ? 'It does not start again by itself.' : `It starts again at ${nextStartAt}.`;
    return `This takes the stream off air now. ${next}`;
  }
  if (lost.length === 0) return 'The stream stays on air.';
  const [noun, only] = lost.length === 1 ? ['destination', 'the only one'] : ['destinations', 'the only ones'];
  const others = takesOffAir ? `${only} where it is received now` : 'and stays on air at the others';
  return `The stream ends at the ${noun} ${lostNames}, ${others}.`;
}
