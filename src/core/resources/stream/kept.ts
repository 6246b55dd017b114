/**
 * Returns the part of a stream that a cache keeps: no template where no pods are made, and elsewhere none that is too large. Pure: no
 * I/O, no clock.
 */
import { keepOwnMetadata } from '../common/kept.ts';
import { GROUP } from '../common/names.ts';
import type { LoopStream } from './resource.ts';
import { MAX_TEMPLATE_CHARACTERS } from './template.ts';

/** In place of a template that is too large: its size. Nobody else can write it, since its prefix is reserved. */
const TOO_LARGE_ANNOTATION = `${GROUP}/template-too-large`;

/** For a process that makes no pods. */
export function keepWithoutTemplate(stream: LoopStream): LoopStream {
  const kept = keepOwnMetadata(stream);
  if (kept.spec.template === undefined) return kept;
  const { template: _, ...spec } = kept.spec;
  return { ...kept, spec };
}

/** For the operator: the template, unless it is too large. `readTooLarge` returns its size then. */
export function keepSmallTemplate(stream: LoopStream): LoopStream {
  const kept = keepOwnMetadata(stream);
  if (kept.spec.template === undefined) return kept;
  const size = JSON.stringify(kept.spec.template).length;
  if (size <= MAX_TEMPLATE_CHARACTERS) return kept;
  return { ...kept, spec: { ...kept.spec, template: { annotations: { [TOO_LARGE_ANNOTATION]: String(size) } } } };
}

/** Returns the size of a template that was too large to be kept, and the limit; undefined for others. */
export function readTooLarge({ spec }: Pick<LoopStream, 'spec'>): { size: number; limit: number } | undefined {
  const size = spec.template?.annotations?.[TOO_LARGE_ANNOTATION];
  return size === undefined ? undefined : { size: Number(size), limit: MAX_TEMPLATE_CHARACTERS };
}
