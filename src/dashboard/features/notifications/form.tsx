/** An endpoint made or changed. Its address may be a secret: it goes in, and comes out in part alone. */
import { TextInput } from '@mantine/core';
import type { Endpoint } from '../../../service/client/index.ts';
import type { EndpointKind } from '../../../service/domain/endpoints/record.ts';
import { useApi } from '../../api/context.tsx';
import { useMe } from '../../api/me.ts';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { ChoiceFields } from './choiceFields.tsx';
import {
  buildCreate,
  type EndpointValues,
  findChanges,
  findMistakes,
  PATHS,
  readValues,
  toFormErrors,
} from './formValues.ts';
import { EndpointIcon } from './kind.tsx';
import { TargetFields } from './targetFields.tsx';
import { KIND_WORDS } from './text.ts';

const KINDS = Object.entries(KIND_WORDS).map(([kind, { label }]) => ({
  value: kind as EndpointKind,
  label,
  icon: <EndpointIcon kind={kind as EndpointKind} />,
}));

const LABELS = {
  name: 'Name',
  address: 'E-mail address',
  ...{ choosesTypes: 'Events', types: 'Events', choosesObjects: 'Streams', objectIDs: 'Streams' },
  offAirSeconds: 'Seconds off air',
};

interface EndpointFormProps {
  /** The one to change; a new one is made without. */
  before?: Endpoint;
  onClose: () => void;
  onDone: (endpoint: Endpoint) => unknown;
}

export function EndpointForm({ before, onClose, onDone }: EndpointFormProps) {
  const { endpoints } = useApi().calls;
  const own = useMe().data?.email ?? '';
  const { form, forgetBefore, elsewhere } = useDraftForm<EndpointValues>({
    name: `endpoint ${before?.id ?? ''}`,
    secrets: ['url', 'headers', 'body'],
    initialValues: readValues(before, own),
    validate: findMistakes(before === undefined),
  });
  const finish = forgetBefore(onDone);
  const { submit, busy, problem } = useSubmit<EndpointValues, Endpoint>({
    send: async (values, idempotencyKey) => {
      if (!before) return endpoints.create(buildCreate(values), { idempotencyKey });
      const changes = findChanges(values, before);
      return Object.keys(changes).length === 0 ? before : endpoints.update(before.id, changes, { idempotencyKey });
    },
    fields: PATHS,
    onMistakes: (mistakes) => form.setErrors(toFormErrors(mistakes)),
    onDone: finish,
  });
  const cancel = forgetBefore(onClose);
  const title = before ? 'Change endpoint' : 'New endpoint';
  return (
    <Dialog title={title} onClose={cancel} busy={busy}>
      <form className={forms.form} aria-label={title} onSubmit={form.onSubmit(submit)} noValidate>
        {!before && (
          <Choices
            legend="Kind"
            name="kind"
            choices={KINDS}
            value={form.values.kind}
            onChange={(kind) => {
              form.setFieldValue('kind', kind);
              form.clearErrors();
            }}
          />
        )}
        <TargetFields form={form} before={before} />
        <TextInput
          label="Name"
          description={before ? undefined : 'Without one, its address is its name.'}
          autoComplete="off"
          {...form.getInputProps('name')}
        />
        <ChoiceFields form={form} />
        <ChangedElsewhere fields={elsewhere} labels={LABELS} />
        <FormEnd problem={problem} busy={busy} onCancel={cancel}>
          {before ? 'Save' : 'Add endpoint'}
        </FormEnd>
      </form>
    </Dialog>
  );
}
