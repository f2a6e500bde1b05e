/** Dialogs of several screens: secrets that are shown once, confirmations, permissions. */
export const dialogWords = {
  secret: {
    text: 'You can see it only now. No one can read it again, not even an owner.',
    try: 'Try it',
    copyCommand: 'Copy command',
    stored: 'I have stored it',
    done: 'Done',
  },
  discard: {
    title: 'Discard what you entered?',
    keep: 'Keep editing',
    submit: 'Discard',
  },
  leave: {
    title: 'Leave with unsaved changes?',
    text: 'Your draft stays in this browser tab until you save or discard it.',
    stay: 'Keep editing',
    leave: 'Leave',
  },
  confirm: {
    type: (name: string) => `Type ${name} to confirm`,
  },
  picker: {
    label: 'Permissions',
    filter: (count: number) => `Filter ${count} permissions`,
    count: (chosen: number, all: number) => `${chosen} of ${all}`,
    nothing: 'No permission matches.',
    locked: 'You do not have this',
    startFrom: 'Start from',
  },
};
