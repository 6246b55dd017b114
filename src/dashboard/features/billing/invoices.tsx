/** Invoices as files, and whom they are sent to. */
import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { IconFileTypePdf } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { BillingAddress, InvoiceSummary } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { saveFile } from '../../lib/download.ts';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { formatMinor } from '../../lib/format.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useOnce } from '../../ui/useOnce.ts';
import { useSubmit } from '../../ui/useSubmit.ts';
import classes from './billing.module.css';
import { listCountries } from './countries.ts';
import { PanelList } from './panelList.tsx';
import { useInvoices } from './queries.ts';

function Pdf({ id, number }: InvoiceSummary) {
  const api = useApi();
  const { run, busy, problem } = useOnce(
    () => api.file(`/billing/invoices/${encodeURIComponent(id)}.pdf`, 'application/pdf'),
    (file) => saveFile(file, `${number}.pdf`),
  );
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`PDF of ${number}`}
        leftSection={<IconFileTypePdf size={15} aria-hidden />}
        loading={busy}
        onClick={() => run(undefined)}
      >
        PDF
      </Button>
      {problem && <p role="alert">{problem}</p>}
    </>
  );
}

export const Invoices = () => (
  <PanelList<InvoiceSummary>
    query={useInvoices()}
    none="The first invoice follows a month with usage."
    getKey={({ id }) => id}
  >
    {(invoice) => (
      <>
        <div>
          <strong>
            {invoice.kind === 'credit_note' && 'Credit note '}
            {invoice.number}
          </strong>
          <span>
            {invoice.issuedOn} · {formatMinor(invoice.totalMinor, invoice)}
          </span>
        </div>
        <Pdf {...invoice} />
      </>
    )}
  </PanelList>
);

/** Field → what people call it, in the order of an address. */
const FIELDS = {
  name: 'Company or person',
  line1: 'Street and number',
  line2: 'Address, continued',
  postalCode: 'Postal code',
  city: 'City',
  region: 'State or province',
  country: 'Country',
  taxID: 'Tax number',
} as const satisfies Record<keyof BillingAddress, string>;
type AddressFieldName = keyof typeof FIELDS;
type AddressValues = Record<AddressFieldName, string>;
const NAMES = Object.keys(FIELDS) as AddressFieldName[];

const toValues = (address: BillingAddress): AddressValues =>
  Object.fromEntries(NAMES.map((name) => [name, address[name] ?? ''])) as AddressValues;

/** An empty text takes a field away again. */
const findChanges = (before: AddressValues, after: AddressValues): BillingAddress =>
  Object.fromEntries(
    NAMES.map((name) => [name, after[name].trim()] as const).filter(([name, value]) => value !== before[name]),
  );

function Fields({ address, onClose }: { address: BillingAddress; onClose: () => void }) {
  const { billingAddress } = useApi().calls;
  const queries = useQueryClient();
  const { form, forgetBefore, elsewhere } = useDraftForm<AddressValues>({
    name: 'address',
    initialValues: toValues(address),
  });
  const { submit, busy, problem } = useSubmit<AddressValues, BillingAddress>({
    send: (values) => {
      const changes = findChanges(form.getInitialValues(), values);
      return Object.keys(changes).length === 0 ? Promise.resolve(address) : billingAddress.update(changes);
    },
    fields: NAMES,
    onMistakes: form.setErrors,
    onDone: forgetBefore((after) => {
      queries.setQueryData(['money', 'address'], after);
      onClose();
    }),
  });
  const cancel = forgetBefore(onClose);
  const { country } = form.getInitialValues();
  const countries = useMemo(() => listCountries(country), [country]);
  return (
    <form className={forms.form} onSubmit={form.onSubmit(submit)} noValidate>
      <p className={forms.help}>The address appears on future invoices. Issued invoices do not change.</p>
      <div className={classes.address}>
        {NAMES.map((name) =>
          name === 'country' ? (
            <NativeSelect key={name} label={FIELDS[name]} data={countries} {...form.getInputProps(name)} />
          ) : (
            <TextInput key={name} label={FIELDS[name]} autoComplete="off" {...form.getInputProps(name)} />
          ),
        )}
      </div>
      <ChangedElsewhere fields={elsewhere} labels={FIELDS} />
      <FormEnd problem={problem} busy={busy} onCancel={cancel}>
        Save
      </FormEnd>
    </form>
  );
}

export function AddressForm({ onClose }: { onClose: () => void }) {
  const { billingAddress } = useApi().calls;
  const { data, error } = useQuery({
    queryKey: ['money', 'address'],
    queryFn: ({ signal }) => billingAddress.get({ signal }),
  });
  return (
    <Dialog title="Invoice address" onClose={onClose} wide>
      {error && <p role="alert">{problemText(error)}</p>}
      {!data && !error && <Skeleton height={220} />}
      {data && <Fields address={data} onClose={onClose} />}
    </Dialog>
  );
}
