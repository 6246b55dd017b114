import { NativeSelect } from '@mantine/core';
import type { Upload } from '../../../service/client/index.ts';
import { listPictures } from '../overlays/layers.ts';
import { LABELS } from './fields.ts';

const HELP =
  'Shown while none of the media can be played, in place of two grey bars. The stream stays on air meanwhile.';

interface SlateFieldProps {
  /** objectID of an upload; empty for the built-in picture. */
  value: string;
  uploads: readonly Upload[] | undefined;
  /** Those of the form. */
  props: object;
}

/** A person who has no picture is not asked for one. */
export function SlateField({ value, uploads, props }: SlateFieldProps) {
  const pictures = listPictures(uploads, value).map(({ objectID, name }) => ({ value: objectID, label: name }));
  if (pictures.length === 0 && value === '') return null;
  const builtIn = { value: '', label: 'Two grey bars on black' };
  return (
    <NativeSelect
      label={LABELS.slateUploadObjectID}
      description={HELP}
      data={[builtIn, ...pictures]}
      value={value}
      {...props}
    />
  );
}
