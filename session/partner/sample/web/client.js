// The page: asks the API for the tasks, and shows them.

import { classNames, dueText, summary } from "./format.js";

const list = document.querySelector("#tasks");
const form = document.querySelector("#new-task");
const message = document.querySelector("#message");

function today() {
  return new Date().toISOString().slice(0, 10);
}

/** One request to the API; throws an Error with the server's own words. */
async function request(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) {
    throw new Error(answer.error);
  }
  return answer;
}

function button(label, action) {
  const element = document.createElement("button");
  element.textContent = label;
  element.addEventListener("click", () => attempt(action));
  return element;
}

function span(className, text) {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

/** The line of one task. */
function row(task) {
  const element = document.createElement("li");
  element.classList.add(...classNames(task, today()));
  element.append(
    span("title", task.title),
    span("due", dueText(task, today())),
  );
  if (!task.done) {
    element.append(button("Done", () => request("POST", `/api/tasks/${task.id}/done`)));
  }
  element.append(button("Remove", () => request("DELETE", `/api/tasks/${task.id}`)));
  return element;
}

async function refresh() {
  const tasks = await request("GET", "/api/tasks");
  list.replaceChildren(...tasks.map(row));
  message.textContent = summary(tasks);
}

/** Do something that changes the tasks, and show what came of it. */
async function attempt(action) {
  try {
    await action();
    await refresh();
  } catch (error) {
    message.textContent = error.message;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  attempt(async () => {
    await request("POST", "/api/tasks", {
      title: fields.get("title"),
      due: fields.get("due") || null,
    });
    form.reset();
  });
});

attempt(() => Promise.resolve());
