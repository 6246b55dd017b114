import { NativeSelect } from '@mantine/core';
import { LABELS } from './fields.ts';
import { listLoudnessOptions } from './loudness.ts';

const COST =
  'An even loudness is made in the background. It takes about 72 MB of your storage for each hour of media, and nothing on air.';

/** `before`: what the stream has. `props`: those of the form. */
export const LoudnessField = ({ before, props }: { before: string; props: object }) => (
  <NativeSelect label={LABELS.loudness} description={COST} data={listLoudnessOptions(before)} {...props} />
);
