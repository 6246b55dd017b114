/** The name, the order, the clips and the rules of a playlist, changed here and saved as one new version. */
import { Button, NumberInput, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { MAX_APART } from '../../../core/resources/playlist/rule-limits.ts';
import type { Playlist } from '../../../service/client/index.ts';
import { Choices } from '../../ui/choices.tsx';
import page from '../../ui/page.module.css';
import { Empty } from '../../ui/page.tsx';
import { useUploadsById } from '../uploads/queries.ts';
import { Clips } from './clips.tsx';
import { MODES } from './createForm.tsx';
import { type PlaylistDraft, withAdded, withMoved, without } from './draft.ts';
import { Picker } from './picker.tsx';
import classes from './playlists.module.css';
import { Rules } from './rules.tsx';
import type { RuleMistakes } from './ruleValues.ts';
import { formatTotal } from './text.ts';

const NO_UPLOADS = new Map();

/** It holds where clips are shuffled; one that is set stays in sight. A field that is emptied keeps its last number. */
function Apart({ draft, edit }: Pick<EditorProps, 'draft' | 'edit'>) {
  if (draft.mode !== 'shuffle' && draft.apart === 0) return null;
  return (
    <NumberInput
      label="Clips between two of one artist"
      description="As far as the list allows. 0: artists in any order."
      min={0}
      max={MAX_APART}
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="strict"
      value={draft.apart}
      onChange={(apart) => typeof apart === 'number' && edit({ ...draft, apart })}
    />
  );
}

interface EditorProps {
  playlist: Pick<Playlist, 'id' | 'kind' | 'streamID'>;
  draft: PlaylistDraft;
  edit: (draft: PlaylistDraft) => void;
  nameError: string | undefined;
  ruleMistakes: ReadonlyMap<number, RuleMistakes>;
  /** While a save is on its way nothing can be changed. */
  busy: boolean;
}

export function Editor({ playlist, draft, edit, nameError, ruleMistakes, busy }: EditorProps) {
  const [picking, setPicking] = useState(false);
  const ids = draft.entries.map(({ objectID }) => objectID);
  const uploads = useUploadsById(ids);
  const known = uploads ?? NO_UPLOADS;
  const add = (
    <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setPicking(true)}>
      Add clips
    </Button>
  );
  return (
    <div className={classes.editor} inert={busy}>
      <div className={classes.settings}>
        <TextInput
          label="Name"
          autoComplete="off"
          value={draft.name}
          error={nameError}
          onChange={(event) => edit({ ...draft, name: event.currentTarget.value })}
        />
        <Choices
          legend="Order"
          name="mode"
          choices={MODES}
          value={draft.mode}
          onChange={(mode) => edit({ ...draft, mode })}
        />
        <Apart draft={draft} edit={edit} />
      </div>
      <div className={classes.clipsHead}>
        <h2>Clips</h2>
        <p className={page.dim} data-testid="total">
          {uploads ? formatTotal(ids, uploads) : 'Loading the clips…'}
        </p>
        {ids.length > 0 && add}
      </div>
      {ids.length === 0 ? (
        <Empty icon={IconPlus} title="No clips yet" action={add}>
          Add some of your uploads. You cannot publish a playlist without clips.
        </Empty>
      ) : (
        <Clips
          entries={draft.entries}
          uploads={known}
          onMove={(key, place) => edit(withMoved(draft, key, place))}
          onRemove={(key) => edit(without(draft, key))}
        />
      )}
      <Rules
        playlist={playlist}
        rules={draft.rules}
        mistakes={ruleMistakes}
        edit={(rules) => edit({ ...draft, rules })}
      />
      {picking && (
        <Picker
          kind={playlist.kind}
          onClose={() => setPicking(false)}
          onAdd={(chosen) => {
            setPicking(false);
            edit(withAdded(draft, chosen));
          }}
        />
      )}
    </div>
  );
}
