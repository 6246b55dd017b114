/** Carries a trace from the process that writes an object to the one that reconciles it. Pure: no I/O, no clock. */
import { TRACEPARENT_ANNOTATION } from './names.ts';

interface Annotated {
  metadata?: { annotations?: Record<string, string> | undefined };
}

/** Adds the annotation to an object, or to a merge patch of one. Without `traceparent` it returns the object as it is. */
export function annotateTrace<T extends object>(object: T, traceparent: string | undefined): T {
  if (traceparent === undefined) return object;
  const { metadata } = object as Annotated;
  const annotations = { ...metadata?.annotations, [TRACEPARENT_ANNOTATION]: traceparent };
  return { ...object, metadata: { ...metadata, annotations } };
}

export const readTraceparent = (object: Annotated): string | undefined =>
  object.metadata?.annotations?.[TRACEPARENT_ANNOTATION];
