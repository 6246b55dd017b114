/** Reads the destinations of a stream, whichever field of the spec names them. Pure: no I/O, no clock. */
import type { LoopStreamSpec } from './spec.ts';

type Spec = Pick<LoopStreamSpec, 'destinations' | 'destinationNames'>;

/** Lists all destinations of a stream in order, and which of them receive it. */
export const listOutputs = ({ destinations, destinationNames = [] }: Spec): { name: string; enabled: boolean }[] =>
  destinations?.map(({ name, enabled = true }) => ({ name, enabled })) ??
  destinationNames.map((name) => ({ name, enabled: true }));

/** Returns the name of each destination that the spec refers to, in order. */
export const listDestinationNames = (spec: Spec): string[] => listOutputs(spec).map(({ name }) => name);

/** Returns the names of the destinations that receive the stream. */
export const listReceivers = (spec: Spec): string[] =>
  listOutputs(spec).flatMap(({ name, enabled }) => (enabled ? [name] : []));
