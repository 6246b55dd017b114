import { Checkbox, NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Upload } from '../../../service/client/index.ts';
import { listPictures } from '../overlays/layers.ts';
import { LABELS } from './fields.ts';

const HELP =
  'Cover, title and artist, in place of the video. Each takes at most 1 MB of your storage, and nothing on air.';

interface CardsFieldProps {
  /** objectID of the picture behind the words; empty for the cover of the song, null for no cards. */
  value: string | null;
  onChange: (value: string | null) => void;
  error: ReactNode;
  uploads: readonly Upload[] | undefined;
}

/** A person who has no picture is not asked for one. */
export function CardsField({ value, onChange, error, uploads }: CardsFieldProps) {
  const pictures = listPictures(uploads, value || null).map(({ objectID, name }) => ({ value: objectID, label: name }));
  return (
    <>
      <Checkbox
        label={LABELS.cards}
        description={HELP}
        checked={value !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? '' : null)}
        error={error}
      />
      {value !== null && pictures.length > 0 && (
        <NativeSelect
          label="Picture behind the words"
          data={[{ value: '', label: 'The cover of the song, blurred' }, ...pictures]}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </>
  );
}
