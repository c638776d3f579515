// Text made of tasks. No DOM and no network here, so that it can be tried in any JavaScript engine.

/** The number of days from `today` to `due`, both written as YYYY-MM-DD. */
export function daysUntil(due, today) {
  return Math.round((Date.parse(due) - Date.parse(today)) / 86_400_000);
}

/** When a task is due, in words; empty for a task without a date. */
export function dueText(task, today) {
  if (!task.due) {
    return "";
  }
  const days = daysUntil(task.due, today);
  if (days < 0) {
    return days === -1 ? "due yesterday" : `${-days} days late`;
  }
  if (days === 0) {
    return "due today";
  }
  return days === 1 ? "due tomorrow" : `in ${days} days`;
}

/** The classes of a task's line on the page. */
export function classNames(task, today) {
  const names = [];
  if (task.done) {
    names.push("done");
  } else if (task.due && daysUntil(task.due, today) < 0) {
    names.push("late");
  }
  return names;
}

/** How many tasks are open, in words. */
export function summary(tasks) {
  const open = tasks.filter((task) => !task.done).length;
  return open === 0 ? "Nothing to do." : `${open} to do`;
}
