/** Choosing clips out of the uploads. */
import { Button, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { Playlist, Upload } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { formatLength } from '../../lib/format.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { More, RowsLoading } from '../../ui/page.tsx';
import { Poster } from '../../ui/poster.tsx';
import { useUploads } from '../uploads/queries.ts';
import { isPlainReady, UploadTag } from '../uploads/row.tsx';
import classes from './playlists.module.css';
import { clips } from './text.ts';

/** A list of pictures takes no sound alone; of one that failed nothing can be played. */
export const fits = (kind: Playlist['kind'], { type, state }: Upload): boolean =>
  state !== 'failed' && (type === 'VIDEO' || (kind === 'audio' && type === 'AUDIO'));

interface ClipChoiceProps {
  kind: Playlist['kind'];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** Check boxes, in the order in which they were checked. */
export function ClipChoice({ kind, chosen, onChange }: ClipChoiceProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useUploads();
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const uploads = (data?.pages.flatMap((one) => one.data) ?? []).filter((upload) => fits(kind, upload));
  const found = uploads.filter(({ name }) => name.toLowerCase().includes(wanted));
  const toggle = (id: string) => onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <div className={classes.picker}>
      <TextInput
        label="Search your uploads"
        leftSection={<IconSearch size={16} aria-hidden />}
        autoComplete="off"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      {isPending && <RowsLoading what="your uploads" rows={2} />}
      {error && !data && <p role="alert">{problemText(error)}</p>}
      {data && found.length === 0 && (
        <p className={page.dim}>
          {wanted === ''
            ? `No uploads to choose from yet. Add ${kind === 'video' ? 'videos' : 'videos or sounds'} under Uploads first.`
            : 'No upload has this text in its name.'}
        </p>
      )}
      <ul className={classes.options}>
        {found.map((upload) => (
          <li key={upload.objectID}>
            <label className={classes.option}>
              <input
                type="checkbox"
                checked={chosen.includes(upload.objectID)}
                onChange={() => toggle(upload.objectID)}
              />
              <Poster url={upload.posterUrl} kind={upload.type} name={upload.name} />
              <span className={classes.clipText}>
                <span className={classes.clipName}>
                  <Name isCut>{upload.name}</Name>
                </span>
                {!isPlainReady(upload) && <UploadTag {...upload} />}
              </span>
              <span className={classes.length}>{formatLength(upload.durationSeconds)}</span>
            </label>
          </li>
        ))}
      </ul>
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => fetchNextPage()} />}
    </div>
  );
}

interface PickerProps {
  kind: Playlist['kind'];
  onClose: () => void;
  onAdd: (objectIDs: string[]) => void;
}

export function Picker({ kind, onClose, onAdd }: PickerProps) {
  const [chosen, setChosen] = useState<string[]>([]);
  return (
    <Dialog title="Add clips" onClose={onClose} wide>
      <ClipChoice kind={kind} chosen={chosen} onChange={setChosen} />
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button disabled={chosen.length === 0} onClick={() => onAdd(chosen)}>
          {chosen.length === 0 ? 'Add clips' : `Add ${clips(chosen.length)}`}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
