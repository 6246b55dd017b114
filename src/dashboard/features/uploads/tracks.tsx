/** Lets the owner choose the tracks of an upload that play, where its file has more than one of a kind. */
import { NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { Upload, UploadUpdate } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { useUploadsChanged } from './queries.ts';
import { type ChoiceKind, listTrackChoices } from './trackChoices.ts';
import classes from './uploads.module.css';

const LABELS: Record<ChoiceKind, string> = { VIDEO: 'Video track', AUDIO: 'Audio track' };

export function Tracks({ upload }: { upload: Upload }) {
  const { calls } = useApi();
  const changed = useUploadsChanged();
  const { objectID, name } = upload;
  const choose = useMutation({
    mutationFn: (tracks: NonNullable<UploadUpdate['tracks']>) =>
      calls.uploads.update(objectID, { tracks }).then(changed),
  });
  const choices = (['VIDEO', 'AUDIO'] as const).flatMap((kind) => listTrackChoices(upload, kind) ?? []);
  if (choices.length === 0) return null;
  return (
    <div className={classes.tracks} data-testid="upload-tracks">
      {choices.map(({ kind, value, options }) => (
        <NativeSelect
          key={kind}
          label={LABELS[kind]}
          aria-label={`${LABELS[kind]} of ${name}`}
          disabled={choose.isPending}
          value={value}
          data={options.map(({ value, label, disabled }) => ({ value, label, disabled }))}
          onChange={({ currentTarget }) => {
            const option = options.find((one) => one.value === currentTarget.value);
            if (option) choose.mutate(option.tracks);
          }}
        />
      ))}
      {choose.error && <p role="alert">{problemText(choose.error)}</p>}
    </div>
  );
}
