/** Defines the GraphQL enums of a stream, which its live statistics and the prices have too. */
import { STREAM_FIELDS } from '../../domain/streams/fields.ts';
import { enumTypes } from './fields.ts';

/** By the names of their fields. */
export const STREAM_ENUMS = enumTypes('Stream', STREAM_FIELDS);
