export const limitWords = {
  title: 'Limits & budgets',
};
