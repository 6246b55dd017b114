/** Reads the destinations of a stream, whichever field of the spec names them. Pure: no I/O, no clock. */
import type { LoopStreamSpec } from './spec.ts';

type Spec = Pick<LoopStreamSpec, 'destinations' | 'destinationNames'>;

/** Returns the name of each destination that the spec refers to, in order. */
export const listDestinationNames = ({ destinations, destinationNames = [] }: Spec): string[] =>
  destinations?.map(({ name }) => name) ?? destinationNames;

/** Returns the names of the destinations that receive the stream. */
export const listReceivers = ({ destinations, destinationNames = [] }: Spec): string[] =>
  destinations?.flatMap(({ name, enabled }) => (enabled === false ? [] : [name])) ?? destinationNames;

/** Lists all destinations of a stream, and which of them receive it. */
export const listOutputs = ({ destinations, destinationNames = [] }: Spec): { name: string; enabled: boolean }[] =>
  (destinations ?? destinationNames.map((name) => ({ name, enabled: true }))).map(({ name, enabled = true }) => ({
    name,
    enabled,
  }));
