import { TextInput } from '@mantine/core';
import { signInWords } from '../../words/sign-in';

interface CodeInputProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Whether it has the initial focus. */
  readonly isFirst?: boolean;
}

/** The code of an authenticator app, or a recovery code. */
export function CodeInput({ value, onChange, isFirst = false }: CodeInputProps) {
  return (
    <TextInput
      label={signInWords.code}
      description={signInWords.codeHelp}
      autoComplete="one-time-code"
      spellCheck={false}
      maxLength={40}
      required
      withAsterisk={false}
      autoFocus={isFirst}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
    />
  );
}
