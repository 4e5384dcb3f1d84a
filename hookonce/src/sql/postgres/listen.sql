-- A hint and nothing more: whoever hears nothing polls.
listen hookonce
